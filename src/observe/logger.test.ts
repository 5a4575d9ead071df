import { expect } from 'chai';
import { createLogger } from './logger.ts';

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
});
