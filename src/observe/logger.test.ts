import { expect } from 'chai';
import { createLogger, verbositySetter } from './logger.ts';

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
