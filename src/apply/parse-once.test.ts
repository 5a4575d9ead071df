import { expect } from 'chai';
import { parseOnce } from './parse-once.ts';

describe('apply/parse-once', () => {
  const parse = parseOnce((text): readonly string[] => text.split(' '));

  it('gives the same object for the same text', () => {
    const first = parse('a b');
    expect(first).to.deep.equal(['a', 'b']);
    expect(parse(['a', 'b'].join(' '))).to.equal(first);
  });

  it('parses another text, and one that comes back', () => {
    const first = parse('a b');
    expect(parse('c')).to.deep.equal(['c']);
    expect(parse('a b')).to.deep.equal(first);
  });
});
