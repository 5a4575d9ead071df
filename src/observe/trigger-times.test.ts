import { expect } from 'chai';
import { slice } from '../../test/builders/objects.ts';
import { TriggerTimes } from './trigger-times.ts';

describe('observe/trigger-times', () => {
  let times: TriggerTimes;
  const at = (changeTriggerMs: number, more: Parameters<typeof slice>[0] = {}) => slice({ changeTriggerMs, ...more });

  beforeEach(() => {
    times = new TriggerTimes();
    times.listed(1000);
  });

  it('measures each change from its time to the end of the pass that programs it, once', () => {
    times.changed(undefined, at(1500));
    times.changed(at(1500), at(1800));
    times.passStarted();
    expect(times.programmed('IPv4', 2000)).to.deep.equal([500, 200]);
    expect(times.programmed('IPv4', 2000)).to.deep.equal([]);
  });

  it('measures nothing from before the first list, and no slice that does not tell', () => {
    const early = new TriggerTimes();
    early.changed(undefined, at(1500));
    early.listed(1000);
    early.changed(undefined, at(1000));
    early.changed(undefined, slice());
    early.passStarted();
    expect(early.programmed('IPv4', 2000)).to.deep.equal([]);
  });

  it('leaves what comes during a pass to the next one', () => {
    times.passStarted();
    times.changed(undefined, at(1500));
    expect(times.programmed('IPv4', 2000)).to.deep.equal([]);
    times.passStarted();
    expect(times.programmed('IPv4', 3000)).to.deep.equal([1500]);
  });

  it('goes on waiting while passes fail, each family for itself', () => {
    times.changed(undefined, at(1500));
    times.changed(undefined, at(1600, { family: 'IPv6' }));
    times.passStarted();
    expect(times.programmed('IPv6', 2000)).to.deep.equal([400]);
    times.changed(undefined, at(2500));
    times.passStarted();
    expect(times.programmed('IPv4', 3000)).to.deep.equal([1500, 500]);
  });

  it('forgets what waits of a Service when one of its slices goes', () => {
    times.changed(undefined, at(1500));
    times.changed(undefined, at(1600, { service: 'shop/other' }));
    times.changed(at(1500), undefined);
    times.passStarted();
    expect(times.programmed('IPv4', 2000)).to.deep.equal([400]);
  });
});
