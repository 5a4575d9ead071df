import { expect } from 'chai';
import { ipvs, real, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import type { IpSet, SetEntry } from '../kernel/ipset/state.ts';
import { rangeTurns } from './range-entries.ts';

describe('plan/range-entries', () => {
  const balanced = { address: ip('198.51.100.1') };
  const [serving, empty] = [ipvs(server([real()], balanced)), ipvs(server([], balanced))];
  const draining = ipvs(server([real('10.180.0.1', { weight: 0 })], balanced));
  const step = (kind: 'add-entry' | 'delete-entry', name = 'KUBE-LOAD-BALANCER-SOURCE-CIDR'): IpsetStep => ({
    kind,
    set: { name } as IpSet,
    entry: '198.51.100.1,tcp:80,10.0.0.0/8' as SetEntry,
  });
  const [open, shut] = [setsWith('IPv4'), setsWith('IPv4', { 'EXTERNAL-NO-LOCAL': ['198.51.100.1,tcp:80'] })];
  const turns = (observed: typeof serving, desired: typeof serving, before = open, after = open) =>
    rangeTurns({ family: 'IPv4', ipvs: desired, sets: after }, { ipvs: observed, sets: before });

  it('lets new ranges in once the last endpoint has gone, which was closed to them', () => {
    expect(turns(serving, empty).isLate(step('add-entry'))).to.equal(true);
    expect(turns(serving, draining).isLate(step('add-entry'))).to.equal(true);
    expect(turns(serving, serving).isLate(step('add-entry')), 'served').to.equal(false);
    expect(turns(empty, empty).isLate(step('add-entry')), 'never served').to.equal(false);
    expect(turns(serving, empty).isLate(step('delete-entry'))).to.equal(false);
    expect(turns(serving, empty).isLate(step('add-entry', 'KUBE-LOOP-BACK'))).to.equal(false);
  });

  it('keeps old ranges out before the first endpoint comes, which is closed to them', () => {
    expect(turns(empty, serving).isEarly(step('delete-entry'))).to.equal(true);
    expect(turns(draining, serving).isEarly(step('delete-entry', 'KUBE-LOAD-BALANCER-SOURCE-IP'))).to.equal(true);
    expect(turns(ipvs(), serving).isEarly(step('delete-entry')), 'new').to.equal(true);
    expect(turns(serving, serving).isEarly(step('delete-entry')), 'served').to.equal(false);
    expect(turns(empty, serving).isEarly(step('add-entry'))).to.equal(false);
  });

  it('does both as well where its policy closes a frontend to all outside, or does so no longer', () => {
    expect(turns(serving, serving, shut, open).isEarly(step('delete-entry')), 'opened').to.equal(true);
    expect(turns(serving, serving, shut, shut).isEarly(step('delete-entry')), 'closed all along').to.equal(false);
    expect(turns(serving, serving, open, shut).isLate(step('add-entry')), 'closed').to.equal(true);
    expect(turns(serving, serving, shut, open).isLate(step('add-entry'))).to.equal(false);
  });
});
