import { expect } from 'chai';
import { askedForHelp } from './words.ts';

describe('cli/words', () => {
  it('takes the word help for the option, with or without a command', () => {
    expect(askedForHelp(['help'])).to.deep.equal(['--help']);
    expect(askedForHelp(['help', 'diff'])).to.deep.equal(['diff', '--help']);
  });

  it('leaves other words alone, help behind a command too', () => {
    for (const words of [[], ['diff', '--help'], ['explain', 'help']]) expect(askedForHelp(words)).to.equal(words);
  });
});
