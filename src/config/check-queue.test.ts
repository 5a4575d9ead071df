import { expect } from 'chai';
import { errorsOf, fromFile, OWN } from './config-fixture.ts';

describe('config/check-queue', () => {
  const refused: readonly (readonly [queue: string, field: string, message: string])[] = [
    ['delays: {critical: 200ms}', 'delays.high', 'queue.delays.critical, 200ms; got 100ms'],
    ['delays: {high: 1s}', 'delays.normal', 'queue.delays.high, 1s; got 500ms'],
    ['delays: {normal: 50ms}', 'delays.normal', 'queue.delays.high, 100ms; got 50ms'],
    ['delays: {low: 0}', 'delays.low', 'queue.delays.normal, 500ms; got 0s'],
    ['retries: {readiness: {fast: 3s}}', 'retries.readiness.slow', 'queue.retries.readiness.fast, 3s; got 2s'],
    ['retries: {readiness: {slow: 49ms}}', 'retries.readiness.slow', 'queue.retries.readiness.fast, 50ms; got 49ms'],
    ['retries: {update: {base: 2m}}', 'retries.update.max', 'queue.retries.update.base, 2m0s; got 1m0s'],
    ['retries: {minor: {slow: 1s}}', 'retries.minor.slow', 'queue.retries.minor.fast, 2s; got 1s'],
  ];
  for (const [queue, field, rest] of refused) {
    it(`refuses ${queue}`, () =>
      expect(errorsOf(`${OWN}queue: {${queue}}`)).to.deep.equal([
        { where: 'proxy.yaml', field: `queue.${field}`, message: `must not be shorter than ${rest}` },
      ]));
  }

  it('accepts waits of the same length', () => {
    const { levelDelaysMs, retries } = fromFile(
      `${OWN}queue: {delays: {critical: 1s, high: 1s, normal: 1s, low: 1s}, retries: {update: {base: 60s}}}`,
    ).queue;
    expect(levelDelaysMs).to.deep.equal({ critical: 1_000, high: 1_000, normal: 1_000, low: 1_000 });
    expect(retries.update).to.deep.equal({ kind: 'exponential', baseMs: 60_000, maxMs: 60_000 });
  });

  for (const [queue, field] of [
    ['retries: {update: {base: x, max: 1ms}}', 'retries.update.base'],
    ['retries: {readiness: {fast: 3s, slow: -1s}}', 'retries.readiness.slow'],
    ['retries: 5', 'retries'],
    ['delays: {critical: 1m, high: x, normal: 1m, low: 1m}', 'delays.high'],
  ] as const) {
    it(`does not hold defaults against the partner of a wrong ${field}`, () =>
      expect(errorsOf(`${OWN}queue: {${queue}}`).map((error) => error.field)).to.deep.equal([`queue.${field}`]));
  }

  it('compares what stands on both sides of a wrong delay', () =>
    expect(errorsOf(`${OWN}queue: {delays: {critical: 1s, high: x}}`)).to.deep.include({
      where: 'proxy.yaml',
      field: 'queue.delays.normal',
      message: 'must not be shorter than queue.delays.critical, 1s; got 500ms',
    }));
});
