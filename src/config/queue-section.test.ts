import { expect } from 'chai';
import { errorsOf, fromFile, OWN } from './config-fixture.ts';
import { withField } from './raw-config.ts';

const RATIO = 'a number from 0 to 1';
const RATE = 'a number of passes a second from 0.01 to 1000';
const SOME = 'a whole number from 1 to 2147483647';
const COUNT = 'a whole number from 0 to 2147483647';
const PASSES = 'a whole number from 1 to 10000';
const DELAY = 'a duration from 0s to 24h0m0s with its unit, such as "500ms" or "1m30s"';
const RETRY = 'a duration from 1ms to 24h0m0s with its unit, such as "500ms" or "1m30s"';

describe('config/queue-section', () => {
  const refused: readonly (readonly [field: string, value: unknown, allowed: string, given: string])[] = [
    ['thresholds.criticalBelowReadyRatio', -0.1, RATIO, '-0.1'],
    ['thresholds.highBelowReadyRatio', 1.1, RATIO, '1.1'],
    ['thresholds.criticalAboveMagnitude', '50%', RATIO, '"50%"'],
    ['thresholds.highAboveMagnitude', true, RATIO, 'true'],
    ['thresholds.normalAboveMagnitude', 5, RATIO, '5'],
    ['thresholds', 0.5, 'a mapping of fields', '0.5'],
    ['delays.critical', '-1ms', DELAY, '"-1ms"'],
    ['delays.high', 100, DELAY, '100'],
    ['delays.normal', 'soon', DELAY, '"soon"'],
    ['delays.low', '2', DELAY, '"2"'],
    ['delays.low', '24h1s', DELAY, '"24h1s"'],
    ['delays', '2s', 'a mapping of fields', '"2s"'],
    ['batchSize', 0, SOME, '0'],
    ['batchSize', 2.5, SOME, '2.5'],
    ['batchWindow', '-1s', DELAY, '"-1s"'],
    ['batchWindow', '2562047h47m16.854775807s', DELAY, '"2562047h47m16.854775807s"'],
    ['retries.readiness.fast', 0, RETRY, '0'],
    ['retries.readiness.fast', '999us', RETRY, '"999us"'],
    ['retries.readiness.fastTries', -1, COUNT, '-1'],
    ['retries.readiness.slow', '0s', RETRY, '"0s"'],
    ['retries.readiness', 'fast', 'a mapping of fields', '"fast"'],
    ['retries.update.base', '0s', RETRY, '"0s"'],
    ['retries.update.max', 60, RETRY, '60'],
    ['retries.update.max', '25h', RETRY, '"25h"'],
    ['retries.minor.fast', '-2s', RETRY, '"-2s"'],
    ['retries.minor.fastTries', 0.5, COUNT, '0.5'],
    ['retries.minor.slow', [], RETRY, 'a list'],
    ['retryJitter', 2, RATIO, '2'],
    ['passesPerSecond', 0, RATE, '0'],
    ['passesPerSecond', '50/s', RATE, '"50/s"'],
    ['passesPerSecond', 1e-300, RATE, '1e-300'],
    ['passesPerSecond', 1000.5, RATE, '1000.5'],
    ['passBurst', 0, PASSES, '0'],
    ['passBurst', 10_001, PASSES, '10001'],
    ['runnerBurst', 0, PASSES, '0'],
    ['runnerBurst', 10_001, PASSES, '10001'],
    ['quarantineAfterFailures', 0, SOME, '0'],
  ];
  for (const [field, value, allowed, given] of refused) {
    it(`refuses ${JSON.stringify(value)} for ${field}`, () =>
      expect(errorsOf(queueWith(field, value))).to.deep.equal([
        { where: 'proxy.yaml', field: `queue.${field}`, message: `must be ${allowed}; got ${given}` },
      ]));
  }

  for (const [word, given] of [
    ['.nan', 'NaN'],
    ['.inf', 'Infinity'],
  ] as const) {
    it(`refuses ${word} for a number`, () =>
      expect(errorsOf(`${OWN}queue: {passesPerSecond: ${word}, retryJitter: ${word}}`)).to.deep.equal([
        { where: 'proxy.yaml', field: 'queue.retryJitter', message: `must be ${RATIO}; got ${given}` },
        { where: 'proxy.yaml', field: 'queue.passesPerSecond', message: `must be ${RATE}; got ${given}` },
      ]));
  }

  it('refuses a queue that is no mapping, once', () =>
    expect(errorsOf(`${OWN}queue: fast`)).to.deep.equal([
      { where: 'proxy.yaml', field: 'queue', message: 'must be a mapping of fields; got "fast"' },
    ]));

  it('takes the ends of its ranges', () => {
    const { queue } = fromFile(
      `${OWN}queue: {thresholds: {highAboveMagnitude: 0, criticalAboveMagnitude: 1}, batchSize: 1, batchWindow: 0, retryJitter: 0}`,
    );
    expect(queue.thresholds).to.include({ highAboveMagnitude: 0, criticalAboveMagnitude: 1 });
    expect(queue).to.include({ batchSize: 1, batchWindowMs: 0, retryJitterRatio: 0 });
    for (const [field, value] of [
      ['passesPerSecond', 0.01],
      ['passesPerSecond', 1_000],
      ['passBurst', 10_000],
      ['runnerBurst', 10_000],
      ['delays.low', '24h'],
      ['retries.minor.fast', '1ms'],
      ['retries.update.max', '24h0m0s'],
    ] as const) {
      expect(errorsOf(queueWith(field, value)), field).to.deep.equal([]);
    }
  });

  it('can do without delays and without fast tries', () => {
    const { levelDelaysMs, retries } = fromFile(
      `${OWN}queue: {delays: {high: 0s, normal: 0s, low: 0s}, retries: {minor: {fastTries: 0}}}`,
    ).queue;
    expect(levelDelaysMs).to.deep.equal({ critical: 0, high: 0, normal: 0, low: 0 });
    expect(retries.minor).to.deep.equal({ kind: 'fast-then-slow', fastMs: 2_000, fastTries: 0, slowMs: 10_000 });
  });
});

function queueWith(field: string, value: unknown): string {
  return `${OWN}queue: ${JSON.stringify(withField({}, field.split('.'), value))}`;
}
