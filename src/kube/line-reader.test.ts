import { expect } from 'chai';
import fc from 'fast-check';
import { LineReader } from './line-reader.ts';

describe('kube/line-reader', () => {
  const push = (reader: LineReader, text: string) => reader.push(Buffer.from(text));

  it('gives a line when its end arrives', () => {
    const reader = new LineReader();
    expect(push(reader, 'a')).to.deep.equal({ ok: true, value: [] });
    expect(push(reader, 'b\nc\n\nd')).to.deep.equal({ ok: true, value: ['ab', 'c'] });
    expect(push(reader, '\n')).to.deep.equal({ ok: true, value: ['d'] });
  });

  it('gives the same lines wherever the bytes are cut, also inside characters', () => {
    const line = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !text.includes('\n'));
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 1, max: 7 }), (lines, size) => {
        const reader = new LineReader();
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        const read: string[] = [];
        for (let at = 0; at < bytes.length; at += size) {
          const result = reader.push(bytes.subarray(at, at + size));
          if (result.ok) read.push(...result.value);
        }
        expect(read).to.deep.equal(lines.map((each) => Buffer.from(each).toString()));
      }),
    );
  });

  it('refuses a line beyond the limit, ended or not, and takes one of exactly the limit', () => {
    const tooLong = { ok: false, error: { kind: 'line-too-long', limitBytes: 4 } };
    expect(push(new LineReader(4), 'abcd\n')).to.deep.equal({ ok: true, value: ['abcd'] });
    expect(push(new LineReader(4), 'abcde\n')).to.deep.equal(tooLong);
    expect(push(new LineReader(4), 'abcde')).to.deep.equal(tooLong);
  });
});
