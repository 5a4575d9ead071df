import { expect } from 'chai';
import fc from 'fast-check';
import { CHANGE_KINDS, type ChangeKind, LEVELS, type Level } from './change.ts';
import { type ChangeFacts, classify } from './classify.ts';
import { DEFAULT_QUEUE_SETTINGS } from './settings.ts';

describe('queue/classify', () => {
  const { thresholds } = DEFAULT_QUEUE_SETTINGS;
  const address = { addressesChanged: true } as const;
  const cases: readonly (readonly [string, Partial<ChangeFacts>, ChangeKind, Level])[] = [
    ['a Service that is added', { object: 'added', ...all(0) }, 'service-added', 'critical'],
    ['a Service that is removed', { object: 'removed' }, 'service-removed', 'critical'],
    ['a Service that is changed', { object: 'changed' }, 'service-changed', 'high'],
    ['a first usable endpoint', { ...counts(9, 9, 0, 1), ...came(1) }, 'not-ready-to-ready', 'critical'],
    ['a first usable endpoint of few', { ...counts(3, 3, 0, 1), ...came(1) }, 'not-ready-to-ready', 'critical'],
    ['the last usable endpoint that goes', { ...counts(50, 50, 1, 0), ...went(1) }, 'ready-to-not-ready', 'critical'],
    ['one more ready below 0.3', { ...counts(50, 50, 13, 14), ...came(1) }, 'not-ready-to-ready', 'critical'],
    ['one more ready at 0.3', { ...counts(50, 50, 14, 15), ...came(1) }, 'not-ready-to-ready', 'high'],
    ['hints below 0.3', counts(50, 50, 5, 5), 'minor', 'high'],
    ['hints below 0.7', counts(100, 100, 69, 69), 'minor', 'high'],
    ['hints at 0.7', counts(100, 100, 70, 70), 'minor', 'low'],
    ['more than half that change', { ...all(100), changedEndpoints: 51, ...address }, 'address-update', 'critical'],
    ['half that change', { ...all(100), changedEndpoints: 50, ...address }, 'address-update', 'high'],
    ['more than a fifth that change', { ...all(100), changedEndpoints: 21, ...address }, 'address-update', 'high'],
    ['a fifth that changes', { ...all(100), changedEndpoints: 20, ...address }, 'address-update', 'normal'],
    ['more than a twentieth that change', { ...all(100), changedEndpoints: 6, ...address }, 'address-update', 'normal'],
    ['a twentieth that changes', { ...all(100), changedEndpoints: 5, ...address }, 'address-update', 'low'],
    ['one of a hundred that stops', { ...counts(100, 100, 100, 99), ...went(1) }, 'ready-to-not-ready', 'high'],
    ['one of a hundred that begins', { ...counts(100, 100, 99, 100), ...came(1) }, 'not-ready-to-ready', 'low'],
    [
      'one of a hundred at another address',
      { ...all(100), changedEndpoints: 2, usableWent: 1, usableCame: 1, ...address },
      'address-update',
      'high',
    ],
    [
      'two of a hundred that change places',
      { ...counts(100, 100, 80, 80), ...went(1), ...came(1), changedEndpoints: 2 },
      'ready-to-not-ready',
      'high',
    ],
    ['one port of a hundred', { ...all(100), changedEndpoints: 1, portsChanged: true }, 'port-update', 'high'],
    ['hints of a Service without endpoints', all(0), 'minor', 'low'],
    [
      'a first endpoint that is not ready',
      { ...counts(0, 1, 0, 0), changedEndpoints: 1, ...address },
      'address-update',
      'critical',
    ],
  ];
  for (const [name, given, kind, level] of cases) {
    it(`takes ${name} for ${kind}, ${level}`, () => {
      const change = classify(facts(given), thresholds);
      expect({ kind: change.kind, level: change.level }).to.deep.equal({ kind, level });
    });
  }

  it('gives all endpoints as ready when there are none, so that the first unready one is the whole Service', () => {
    const change = classify(facts({ ...counts(0, 4, 0, 0), changedEndpoints: 4, ...address }), thresholds);
    expect(change).to.include({ readyBefore: 1, readyAfter: 0, magnitude: 1 });
  });

  it('gives the larger of the change of the ratio and the part that changes, 1 at most', () => {
    const magnitude = (given: Partial<ChangeFacts>) => classify(facts(given), thresholds).magnitude;
    expect(magnitude({ ...counts(4, 4, 4, 1), changedEndpoints: 1 })).to.equal(0.75);
    expect(magnitude({ ...counts(4, 4, 4, 4), changedEndpoints: 2 })).to.equal(0.5);
    expect(magnitude({ ...counts(4, 4, 4, 4), changedEndpoints: 8 })).to.equal(1);
    expect(magnitude({ ...counts(2, 8, 2, 8), changedEndpoints: 6 })).to.equal(0.75);
    expect(magnitude(counts(0, 0, 0, 0))).to.equal(0);
  });

  it('uses the thresholds that it is given', () => {
    const change = facts({ ...all(100), changedEndpoints: 6, addressesChanged: true });
    const lenient = { ...thresholds, normalAboveMagnitude: 0.06 };
    expect([thresholds, lenient].map((given) => classify(change, given).level)).to.deep.equal(['normal', 'low']);
  });

  it('gives numbers between 0 and 1 and known words, whatever the facts', () => {
    const some = fc.nat(20);
    const any = fc.record({
      ...{ service: fc.constant('shop/cart'), totalBefore: some, totalAfter: some, changedEndpoints: some },
      ...{ usableBefore: some, usableAfter: some, usableWent: some, usableCame: some, turnedUnusable: some },
      ...{ turnedUsable: some, portsChanged: fc.boolean(), addressesChanged: fc.boolean() },
      object: fc.constantFrom('added', 'removed', 'changed', 'same'),
    });
    fc.assert(
      fc.property(any, (given) => {
        const usableBefore = Math.min(given.usableBefore, given.totalBefore);
        const usableAfter = Math.min(given.usableAfter, given.totalAfter);
        const change = classify({ ...given, usableBefore, usableAfter }, thresholds);
        expect(LEVELS).to.include(change.level);
        expect(CHANGE_KINDS).to.include(change.kind);
        for (const part of [change.readyBefore, change.readyAfter, change.magnitude]) expect(part).to.be.within(0, 1);
      }),
      { numRuns: 500 },
    );
  });
});

/** Ten endpoints, all usable, of which nothing changes but hints. */
function facts(given: Partial<ChangeFacts>): ChangeFacts {
  return {
    ...{ service: 'shop/cart', object: 'same', changedEndpoints: 0, usableWent: 0, usableCame: 0, turnedUnusable: 0 },
    ...{ turnedUsable: 0, portsChanged: false, addressesChanged: false },
    ...all(10),
    ...given,
  };
}

function all(total: number) {
  return counts(total, total, total, total);
}

function counts(totalBefore: number, totalAfter: number, usableBefore: number, usableAfter: number) {
  return { totalBefore, totalAfter, usableBefore, usableAfter };
}

function went(turnedUnusable: number) {
  return { usableWent: turnedUnusable, turnedUnusable, changedEndpoints: turnedUnusable };
}

function came(turnedUsable: number) {
  return { usableCame: turnedUsable, turnedUsable, changedEndpoints: turnedUsable };
}
