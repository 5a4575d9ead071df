import { expect } from 'chai';
import fc from 'fast-check';
import { DueHeap } from './due-heap.ts';

const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe('queue/due-heap', () => {
  let heap: DueHeap;

  beforeEach(() => {
    heap = new DueHeap();
  });

  it('is empty at first', () => {
    expect([heap.size, heap.earliest, heap.earliestMs]).to.deep.equal([0, undefined, Number.POSITIVE_INFINITY]);
    expect(heap.remove('a')).to.equal(false);
    expect(heap.takeDue(1e9)).to.deep.equal([]);
  });

  it('gives what is due, the earliest first, and keeps the rest', () => {
    for (const [key, dueMs] of Object.entries({ a: 30, b: 10, c: 40, d: 20 })) heap.set(key, dueMs);
    expect(heap.takeDue(30)).to.deep.equal(['b', 'd', 'a']);
    expect([heap.size, heap.earliest, heap.earliestMs]).to.deep.equal([1, 'c', 40]);
  });

  it('moves a key to an earlier and to a later time', () => {
    for (const [key, dueMs] of Object.entries({ a: 10, b: 20, c: 30 })) heap.set(key, dueMs);
    heap.set('c', 5);
    heap.set('a', 25);
    expect(heap.takeDue(100)).to.deep.equal(['c', 'b', 'a']);
  });

  it(`agrees with a sorted list, FC_SEED=${SEED}`, () => {
    const key = fc.constantFrom(...'abcdefghijklmnop');
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ set: key, dueMs: fc.nat(50) }) },
      { weight: 2, arbitrary: fc.record({ remove: key }) },
      { weight: 1, arbitrary: fc.record({ takeDue: fc.nat(50) }) },
      { weight: 1, arbitrary: fc.constant({ takeAll: true }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const real = new DueHeap();
        const model = new Map<string, number>();
        for (const each of steps) {
          if ('set' in each) real.set(each.set, each.dueMs);
          if ('set' in each) model.set(each.set, each.dueMs);
          if ('remove' in each) expect(real.remove(each.remove)).to.equal(model.delete(each.remove));
          if ('takeDue' in each) {
            const due = real.takeDue(each.takeDue).map((taken) => [taken, model.get(taken) ?? -1] as const);
            const wanted = [...model].filter(([, dueMs]) => dueMs <= each.takeDue);
            expect(due.map(([, dueMs]) => dueMs)).to.deep.equal(wanted.map(([, dueMs]) => dueMs).sort((a, b) => a - b));
            expect(due).to.have.deep.members(wanted);
            for (const [taken] of due) model.delete(taken);
          }
          if ('takeAll' in each) {
            expect(real.takeAll()).to.have.members([...model.keys()]);
            model.clear();
          }
          expect(real.size).to.equal(model.size);
          expect(real.earliestMs).to.equal(Math.min(...model.values()));
          expect(model.get(real.earliest ?? '')).to.equal(model.size > 0 ? real.earliestMs : undefined);
        }
      }),
      { numRuns: 500, seed: SEED },
    );
  });
});
