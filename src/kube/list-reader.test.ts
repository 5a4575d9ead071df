import { expect } from 'chai';
import fc from 'fast-check';
import { ListReader } from './list-reader.ts';

/** What comes out of a text that arrives in pieces of these lengths, and then as one. */
function read(text: string, lengths: readonly number[] = []): { readonly items: unknown; readonly rest: unknown } {
  const reader = new ListReader();
  const bytes = Buffer.from(text);
  const items: unknown[] = [];
  let start = 0;
  for (const length of [...lengths, bytes.length]) {
    const pushed = reader.push(bytes.subarray(start, start + length));
    if (!pushed.ok) return { items: pushed.error, rest: undefined };
    items.push(...pushed.value);
    start += length;
  }
  const rest = reader.end();
  return { items, rest: rest.ok ? rest.value : rest.error };
}

describe('kube/list-reader', () => {
  const items = fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()));
  const others = fc.dictionary(fc.constantFrom('metadata', 'kind', 'ärger', 'iTems'), fc.jsonValue());
  const lengths = fc.array(fc.nat(40));

  it('gives the items of a list and what is left of it, wherever its pieces end', () => {
    fc.assert(
      fc.property(items, others, lengths, fc.constantFrom(undefined, 1), (given, before, cuts, indent) => {
        const text = JSON.stringify({ ...before, items: given, last: { items: [{ a: 1 }] } }, undefined, indent);
        const { items: _, ...rest } = JSON.parse(text);
        expect(read(text, cuts)).to.deep.equal({
          items: JSON.parse(JSON.stringify(given)),
          rest: { ...rest, items: [] },
        });
      }),
    );
  });

  it('leaves what is no list as it is', () => {
    fc.assert(
      fc.property(others, lengths, (json, cuts) => {
        const text = JSON.stringify(json);
        expect(read(text, cuts)).to.deep.equal({ items: [], rest: JSON.parse(text) });
      }),
    );
  });

  it('gives an item as soon as it is complete', () => {
    const reader = new ListReader();
    expect(reader.push(Buffer.from('{"items":[{"a":1},{"b"'))).to.deep.equal({ ok: true, value: [{ a: 1 }] });
    expect(reader.push(Buffer.from(':"}"}'))).to.deep.equal({ ok: true, value: [{ b: '}' }] });
  });

  const cases = [
    { name: 'leaves what is no object among the items', text: '{"items":[null,{"a":1},[{}]]}', items: [{ a: 1 }] },
    { name: 'gives no item of a list within', text: '{"metadata":{"items":[{"a":1}]},"items":null}', items: [] },
  ];
  for (const { name, text, items: expected } of cases) {
    it(name, () => {
      const { items: given, rest } = read(text);
      const all = JSON.parse(text);
      expect(given).to.deep.equal(expected);
      expect(rest).to.deep.equal(all.items ? { items: [null, [{}]] } : all);
    });
  }

  it('has nothing to give of nothing', () => {
    expect(read('')).to.deep.equal({ items: [], rest: undefined });
  });

  for (const text of [
    '{"items":[{"a":1}',
    '{"items":[{"a":1}{"b":1}]}',
    '{"items":[{"a":1},]}',
    '{"items":[]}}',
    'none',
  ]) {
    it(`says that ${text} is no JSON`, () => expect(read(text).rest).to.match(/^SyntaxError/));
  }

  it('says that an item is no JSON', () => expect(read('{"items":[{"a":}]}').items).to.match(/^SyntaxError/));
});
