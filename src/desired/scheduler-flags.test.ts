import { expect } from 'chai';
import { SCHEDULER_FLAGS, schedulerFlagNames, schedulerFlags } from './scheduler-flags.ts';

const OTHERS = ['rr', 'wrr', 'lc', 'wlc', 'lblc', 'lblcr', 'dh', 'sed', 'nq', 'fo', 'ovf'];

describe('desired/scheduler-flags', () => {
  it('lets mh hash the source port', () => expect(schedulerFlags('mh', undefined)).to.deep.equal(['mh-port']));

  for (const scheduler of [...OTHERS, 'sh']) {
    it(`gives ${scheduler} no flags`, () => expect(schedulerFlags(scheduler, undefined)).to.deep.equal([]));
  }

  for (const scheduler of [...OTHERS, 'sh', 'mh']) {
    it(`gives ${scheduler} none when none are asked for`, () =>
      expect(schedulerFlags(scheduler, [])).to.deep.equal([]));
  }

  const asked: readonly (readonly [scheduler: string, wanted: readonly string[], flags: readonly string[]])[] = [
    ['mh', ['mh-port', 'mh-fallback'], ['mh-fallback', 'mh-port']],
    ['mh', ['mh-fallback'], ['mh-fallback']],
    ['mh', ['flag-2', 'flag-1'], ['mh-fallback', 'mh-port']],
    ['sh', ['sh-port', 'sh-fallback'], ['sh-fallback', 'sh-port']],
    ['sh', ['flag-2', 'sh-port'], ['sh-port']],
    ['sh', ['flag-1'], ['sh-fallback']],
    ['rr', ['flag-3', 'flag-1', 'flag-3'], ['flag-1', 'flag-3']],
    ['wlc', ['flag-2'], ['flag-2']],
  ];
  for (const [scheduler, wanted, flags] of asked) {
    it(`gives ${scheduler} ${flags.join()} for ${wanted.join()}`, () =>
      expect(schedulerFlags(scheduler, wanted)).to.deep.equal(flags));
  }

  it('leaves out what never reads back, and what belongs to another scheduler', () => {
    expect(schedulerFlags('mh', ['flag-3', 'sh-port'])).to.deep.equal([]);
    expect(schedulerFlags('rr', ['sh-port', 'mh-fallback'])).to.deep.equal([]);
  });

  it('names the flags of a scheduler, those by bit too', () => {
    expect(schedulerFlagNames('sh')).to.deep.equal(['sh-fallback', 'sh-port', 'flag-1', 'flag-2']);
    expect(schedulerFlagNames('mh')).to.deep.equal(['mh-fallback', 'mh-port', 'flag-1', 'flag-2']);
    expect(schedulerFlagNames('rr')).to.deep.equal(['flag-1', 'flag-2', 'flag-3']);
  });

  it('knows every name that some scheduler has, and no other', () => {
    const names = ['sh', 'mh', 'rr'].flatMap(schedulerFlagNames);
    expect([...new Set(names)].sort()).to.deep.equal([...SCHEDULER_FLAGS].sort());
  });

  for (const scheduler of ['sh', 'mh', 'rr']) {
    it(`gives ${scheduler} the same flags again when asked for those it has`, () => {
      for (const wanted of subsets(schedulerFlagNames(scheduler))) {
        const flags = schedulerFlags(scheduler, wanted);
        expect(schedulerFlags(scheduler, flags)).to.deep.equal(flags);
      }
    });
  }
});

function subsets(names: readonly string[]): readonly (readonly string[])[] {
  const [first, ...rest] = names;
  if (first === undefined) return [[]];
  return subsets(rest).flatMap((some) => [some, [...some, first]]);
}
