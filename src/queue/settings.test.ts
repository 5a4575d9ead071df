import { expect } from 'chai';
import { DEFAULT_QUEUE_SETTINGS, impossibleSettings, type QueueSettings } from './settings.ts';

const DAY_MS = 86_400_000;

describe('queue/settings', () => {
  it('has defaults that a queue can work with', () => {
    expect(impossibleSettings(DEFAULT_QUEUE_SETTINGS)).to.deep.equal([]);
  });

  const { thresholds, levelDelaysMs, retries } = DEFAULT_QUEUE_SETTINGS;
  const cases: readonly (readonly [string, Partial<QueueSettings>])[] = [
    ['thresholds.highAboveMagnitude', { thresholds: { ...thresholds, highAboveMagnitude: 1.1 } }],
    ['thresholds.criticalBelowReadyRatio', { thresholds: { ...thresholds, criticalBelowReadyRatio: Number.NaN } }],
    ['levelDelaysMs.critical', { levelDelaysMs: { ...levelDelaysMs, critical: -1 } }],
    ['levelDelaysMs.normal', { levelDelaysMs: { ...levelDelaysMs, normal: 99 } }],
    ['levelDelaysMs.low', { levelDelaysMs: { ...levelDelaysMs, low: Number.POSITIVE_INFINITY } }],
    ['batchSize', { batchSize: 0 }],
    ['batchWindowMs', { batchWindowMs: Number.NaN }],
    [
      'retries.readiness',
      { retries: { ...retries, readiness: { kind: 'fast-then-slow', fastMs: 9, fastTries: 1, slowMs: 8 } } },
    ],
    ['retries.update', { retries: { ...retries, update: { kind: 'exponential', baseMs: 0, maxMs: 1 } } }],
    ['retries.minor', { retries: { ...retries, minor: { kind: 'exponential', baseMs: 2, maxMs: 1 } } }],
    ['retryJitterRatio', { retryJitterRatio: -0.1 }],
    ['retries.update', { retries: { ...retries, update: { kind: 'exponential', baseMs: 1, maxMs: DAY_MS + 1 } } }],
    [
      'retries.readiness',
      { retries: { ...retries, readiness: { kind: 'fast-then-slow', fastMs: 0.9, fastTries: 1, slowMs: 8 } } },
    ],
    ['levelDelaysMs.low', { levelDelaysMs: { ...levelDelaysMs, low: DAY_MS + 1 } }],
    ['batchWindowMs', { batchWindowMs: DAY_MS + 1 }],
    ['passesPerSecond', { passesPerSecond: 0 }],
    ['passesPerSecond', { passesPerSecond: 1e-300 }],
    ['passesPerSecond', { passesPerSecond: 1_000.1 }],
    ['passesPerSecond', { passesPerSecond: Number.NaN }],
    ['passBurst', { passBurst: 0.5 }],
    ['passBurst', { passBurst: 10_001 }],
    ['runnerBurst', { runnerBurst: 0 }],
    ['runnerBurst', { runnerBurst: 10_001 }],
    ['quarantineAfterFailures', { quarantineAfterFailures: 0 }],
  ];
  for (const [name, given] of cases) {
    it(`names ${name} when it makes no sense: ${JSON.stringify(given)}`, () => {
      expect(impossibleSettings({ ...DEFAULT_QUEUE_SETTINGS, ...given })).to.deep.equal([name]);
    });
  }
});
