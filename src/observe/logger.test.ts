import { expect } from 'chai';
import { chooseFormat, createLogger, textOf, verbositySetter } from './logger.ts';

describe('observe/logger', () => {
  const levels: readonly (readonly [number, string])[] = [
    [0, 'info'],
    [1, 'info'],
    [2, 'debug'],
    [3, 'debug'],
    [4, 'trace'],
    [10, 'trace'],
  ];
  for (const [verbosity, level] of levels) {
    it(`tells ${level} and worse at verbosity ${verbosity}, in both formats`, () => {
      const formats = (['json', 'text'] as const).map((format) => createLogger({ format, verbosity }).level);
      expect(formats).to.deep.equal([level, level]);
    });
  }

  const asked = [undefined, 'text', 'json'] as const;
  const chosen = (isTTY: boolean) => asked.map((format) => chooseFormat(format, { isTTY }));

  it('is text for people at a terminal, unless something else is asked for', () =>
    expect(chosen(true)).to.deep.equal(['text', 'text', 'json']));

  it('is JSON for programs, unless something else is asked for', () => {
    expect(chosen(false)).to.deep.equal(['json', 'text', 'json']);
    expect(chooseFormat(undefined, {})).to.equal('json');
  });

  it('has the text of an error on the line of its message', () => {
    expect(textOf({ msg: 'pass failed' })).to.equal('pass failed');
    expect(textOf({ part: 'sync', msg: 'pass failed', err: 'ipset:\n  line 1 failed\n' })).to.equal(
      '[sync] pass failed: ipset: line 1 failed',
    );
    expect(textOf({ msg: 'it is gone', err: { code: 5 } })).to.equal('it is gone: {"code":5}');
  });

  it('changes the verbosity of a running log with all its parts', () => {
    const log = createLogger({ format: 'json', verbosity: 0 });
    const setVerbosity = verbositySetter(log);
    const part = log.child({ part: 'sync' });
    setVerbosity(4);
    expect([log.level, part.level]).to.deep.equal(['trace', 'trace']);
    setVerbosity(0);
    expect([log.level, part.level]).to.deep.equal(['info', 'info']);
  });
});
