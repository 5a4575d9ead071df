import { expect } from 'chai';
import { fromFile, OWN } from './config-fixture.ts';
import { proxySettings } from './proxy-settings.ts';

describe('config/proxy-settings', () => {
  const settingsOf = (text: string) => proxySettings(fromFile(text), true);

  it('weighs all endpoints alike and gives the flags of kube-proxy unless told otherwise', () => {
    expect(settingsOf('')).to.include({ weights: undefined, schedulerFlags: undefined, scheduler: 'rr' });
  });

  it('weighs by condition', () => {
    const { weights } = settingsOf(`${OWN}weightPolicy: byCondition\nweights: {ready: 100}`);
    expect(weights).to.deep.equal({ ready: 100, readyNotServing: 5, notReady: 0 });
  });

  it('has no use for weights under policy uniform', () => {
    expect(settingsOf(`${OWN}weights: {ready: 100}`).weights).to.equal(undefined);
  });

  for (const [given, address] of [
    ['192.168.0.99', '192.168.0.99'],
    ['fd00:168::99', 'fd00:168::99'],
    ['0.0.0.0', undefined],
    ['"::"', undefined],
  ] as const) {
    it(`takes ${address ?? 'no address'} for the node's where bindAddress is ${given}`, () =>
      expect(settingsOf(`bindAddress: ${given}`).nodeAddress).to.equal(address));
  }

  it('tells no flags from those of kube-proxy', () => {
    const { schedulerFlags } = settingsOf(`ipvs: {scheduler: mh}\n${OWN}schedulerFlags: []`);
    expect(schedulerFlags).to.deep.equal([]);
  });

  it('passes on the flags that were given', () => {
    const { scheduler, schedulerFlags } = settingsOf(`ipvs: {scheduler: sh}\n${OWN}schedulerFlags: [sh-port]`);
    expect({ scheduler, schedulerFlags }).to.deep.equal({ scheduler: 'sh', schedulerFlags: ['sh-port'] });
  });
});
