import { expect } from 'chai';
import { absorb, type Batch, gatheredMs, isFull, joinBatches, openBatch } from './batch-window.ts';
import type { ChangeKind, Level } from './change.ts';
import { kindsIn } from './kind-set.ts';
import { DEFAULT_QUEUE_SETTINGS } from './settings.ts';

describe('queue/batch-window', () => {
  const settings = DEFAULT_QUEUE_SETTINGS;

  /** A batch of events, each `[at, level]`. */
  function batchOf(...events: readonly (readonly [number, Level])[]): Batch {
    const [[firstMs, level] = [0, 'low' as const], ...rest] = events;
    const batch = openBatch(change(level), firstMs, settings);
    for (const [atMs, next] of rest) absorb(batch, next, 'minor', atMs, settings);
    return batch;
  }

  const cases: readonly (readonly [string, number, readonly (readonly [number, Level])[]])[] = [
    ['after the delay of its level', 100 + 2_000, [[100, 'low']]],
    ['at once when it is critical', 100, [[100, 'critical']]],
    [
      'no later for a later event of the same level',
      500,
      [
        [0, 'normal'],
        [400, 'normal'],
      ],
    ],
    [
      'no later for a later event that is milder',
      100,
      [
        [0, 'high'],
        [50, 'low'],
      ],
    ],
    [
      'earlier for a later event that is more urgent',
      150,
      [
        [0, 'low'],
        [50, 'high'],
      ],
    ],
    [
      'within the window after the first event when it has become normal',
      800,
      [
        [0, 'low'],
        [400, 'normal'],
      ],
    ],
    [
      'at once when it becomes normal after the window',
      800,
      [
        [0, 'low'],
        [1_700, 'normal'],
      ],
    ],
    [
      'within the window when it becomes more urgent than normal',
      800,
      [
        [0, 'low'],
        [790, 'high'],
      ],
    ],
  ];
  for (const [name, dueMs, events] of cases) {
    it(`is due ${name}`, () => expect(batchOf(...events).dueMs).to.equal(dueMs));
  }

  it('is due at once when it is full', () => {
    const nine = batchOf(...Array.from({ length: 9 }, (_, index) => [index, 'low'] as const));
    expect([isFull(nine, settings), nine.dueMs]).to.deep.equal([false, 2_000]);
    absorb(nine, 'low', 'minor', 42, settings);
    expect([isFull(nine, settings), nine.dueMs]).to.deep.equal([true, 42]);
    absorb(nine, 'low', 'minor', 50, settings);
    expect(nine.dueMs).to.equal(42);
  });

  it('keeps the most urgent level, all kinds and the first time', () => {
    const batch = openBatch(change('high', 'port-update'), 7, settings);
    absorb(batch, 'low', 'minor', 9, settings);
    expect({ ...batch, kinds: kindsIn(batch.kinds) }).to.deep.equal({
      ...{ level: 'high', firstMs: 7, events: 2, dueMs: 107 },
      kinds: ['port-update', 'minor'],
    });
  });

  it('gathers at its ends what is due within it', () => {
    const times = [0, 1, 799, 800, 800.5, 2_399].map((dueMs) => gatheredMs(dueMs, settings));
    expect(times).to.deep.equal([0, 800, 800, 800, 1_600, 2_400]);
    expect(gatheredMs(123.5, { batchWindowMs: 0 })).to.equal(123.5);
  });

  it('joins with another one', () => {
    const [early, late] = [batchOf([0, 'low'], [1, 'low']), batchOf([5, 'critical'])];
    const joined = { level: 'critical', kinds: early.kinds, firstMs: 0, events: 3, dueMs: 5 };
    expect(joinBatches(early, late)).to.deep.equal(joined);
    expect(joinBatches(late, early)).to.deep.equal(joined);
  });
});

function change(level: Level, kind: ChangeKind = 'minor') {
  return { service: 'shop/cart', level, kind, readyBefore: 1, readyAfter: 1, magnitude: 0 };
}
