import { expect } from 'chai';
import fc from 'fast-check';
import { same } from './same.ts';

describe('model/same', () => {
  const equal: readonly (readonly [unknown, unknown])[] = [
    [1, 1],
    ['a', 'a'],
    [undefined, undefined],
    [Number.NaN, Number.NaN],
    [
      { a: 1, b: [2, { c: 3 }] },
      { b: [2, { c: 3 }], a: 1 },
    ],
    [new Map([['a', [1]]]), new Map([['a', [1]]])],
    [new Set(['a', 'b']), new Set(['b', 'a'])],
    [{ a: new Set() }, { a: new Set() }],
    [
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
      new Map([
        ['b', 2],
        ['a', 1],
      ]),
    ],
  ];
  for (const [a, b] of equal) {
    it(`takes ${show(a)} for ${show(b)}`, () => expect(same(a, b)).to.equal(true));
  }

  const different: readonly (readonly [unknown, unknown])[] = [
    [1, 2],
    [1, '1'],
    [0, false],
    [null, undefined],
    [null, {}],
    [undefined, new Map()],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 2]],
    [{ a: undefined }, {}],
    [{ a: undefined }, { b: undefined }],
    [new Map(), new Map([['a', 1]])],
    [new Set(['a']), new Set(['b'])],
    [new Set(['a']), new Set(['a', 'b'])],
    [new Set(), {}],
    [new Map(), {}],
    [new Map(), new Set()],
    [new Map([['a', 1]]), new Map([['a', 2]])],
    [new Map([['a', undefined]]), new Map([['b', undefined]])],
    [
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
      new Map([
        ['a', 1],
        ['b', 3],
      ]),
    ],
  ];
  for (const [a, b] of different) {
    it(`tells ${show(a)} from ${show(b)}`, () => {
      expect(same(a, b)).to.equal(false);
      expect(same(b, a)).to.equal(false);
    });
  }

  it('takes every plain value for its copy', () =>
    fc.assert(fc.property(fc.jsonValue(), (value) => same(value, structuredClone(value)))));
});

function show(value: unknown): string {
  if (value instanceof Set) return `a set of ${JSON.stringify([...value])}`;
  return value instanceof Map ? `a map of ${JSON.stringify([...value])}` : (JSON.stringify(value) ?? 'undefined');
}
