import { expect } from 'chai';
import fc from 'fast-check';
import { formatDuration, parseDuration } from './duration.ts';

describe('config/duration', () => {
  const read: [string, number | undefined][] = [
    ['0', 0],
    ['+0', 0],
    ['0s', 0],
    ['-0s', 0],
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['500ms', 500],
    ['.5s', 500],
    ['1.s', 1_000],
    ['4.35s', 4_350],
    ['1.005s', 1_005],
    ['24h0m0s', 86_400_000],
    ['100us', 0.1],
    ['100µs', 0.1],
    ['100μs', 0.1],
    ['250ns', 0.00025],
    ['-2s', -2_000],
    ['1m1m', 120_000],
    ['2562047h', 9_223_369_200_000],
    ['2562048h', undefined],
    ['', undefined],
    ['30', undefined],
    ['s', undefined],
    ['.s', undefined],
    ['1 s', undefined],
    ['1d', undefined],
    ['1S', undefined],
    ['1e3s', undefined],
    ['--1s', undefined],
    ['1h-5m', undefined],
    ['Infinity', undefined],
  ];
  for (const [text, durationMs] of read) {
    it(`reads ${JSON.stringify(text)} as ${durationMs === undefined ? 'no duration' : `${durationMs} ms`}`, () =>
      expect(parseDuration(text)).to.equal(durationMs));
  }

  const written: [number, string][] = [
    [0, '0s'],
    [1_000, '1s'],
    [500, '500ms'],
    [1.5, '1.5ms'],
    [0.25, '250µs'],
    [0.00025, '250ns'],
    [30_000, '30s'],
    [60_000, '1m0s'],
    [900_000, '15m0s'],
    [5_400_000, '1h30m0s'],
    [86_400_000, '24h0m0s'],
    [1_500, '1.5s'],
    [3_600_001, '1h0m0.001s'],
    [-2_000, '-2s'],
    [999.9999999, '1s'],
    [59_999.9999999, '1m0s'],
  ];
  for (const [durationMs, text] of written) {
    it(`writes ${durationMs} ms as Go does, ${text}`, () => expect(formatDuration(durationMs)).to.equal(text));
  }

  it('reads back every whole number of milliseconds up to 100 days that it writes', () =>
    fc.assert(
      fc.property(fc.integer({ min: -9_000_000_000, max: 9_000_000_000 }), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).to.equal(durationMs);
      }),
    ));

  it('reads back every number of nanoseconds below a day that it writes', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400e9 }), (nanoseconds) => {
        expect(parseDuration(formatDuration(nanoseconds / 1e6))).to.equal(nanoseconds / 1e6);
      }),
    ));
});
