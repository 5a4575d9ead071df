import { expect } from 'chai';
import { CHANGE_KINDS, type ChangeKind } from './change.ts';
import { concernsService, kindSet, kindsIn, retrySortOf } from './kind-set.ts';

describe('queue/kind-set', () => {
  const setOf = (...kinds: readonly ChangeKind[]) => kinds.reduce((set, kind) => set | kindSet(kind), 0);

  it('holds each kind and all of them', () => {
    for (const kind of CHANGE_KINDS) expect(kindsIn(kindSet(kind))).to.deep.equal([kind]);
    expect(kindsIn(setOf(...CHANGE_KINDS))).to.deep.equal(CHANGE_KINDS);
    expect(kindsIn(setOf())).to.deep.equal([]);
  });

  it('gives the same list for the same set, in the order of the kinds', () => {
    const list = kindsIn(setOf('minor', 'port-update'));
    expect(list).to.deep.equal(['port-update', 'minor']);
    expect(kindsIn(setOf('port-update', 'minor'))).to.equal(list);
  });

  it('knows whether the Service itself is concerned', () => {
    const concerned = CHANGE_KINDS.filter((kind) => concernsService(kindSet(kind)));
    expect(concerned).to.deep.equal(['service-added', 'service-removed', 'service-changed']);
  });

  it('retries by the kind that is retried soonest', () => {
    expect(retrySortOf(setOf('minor'))).to.equal('minor');
    expect(retrySortOf(setOf('minor', 'service-changed'))).to.equal('update');
    expect(retrySortOf(setOf('minor', 'address-update', 'ready-to-not-ready'))).to.equal('readiness');
    expect(retrySortOf(setOf('service-changed', 'service-removed'))).to.equal('readiness');
  });
});
