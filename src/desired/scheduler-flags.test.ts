import { expect } from 'chai';
import { schedulerFlags } from './scheduler-flags.ts';

describe('desired/scheduler-flags', () => {
  it('lets mh hash the source port', () => expect(schedulerFlags('mh')).to.deep.equal(['mh-port']));

  for (const scheduler of ['rr', 'wrr', 'lc', 'wlc', 'lblc', 'lblcr', 'sh', 'dh', 'sed', 'nq', 'fo', 'ovf']) {
    it(`gives ${scheduler} no flags`, () => expect(schedulerFlags(scheduler)).to.deep.equal([]));
  }
});
