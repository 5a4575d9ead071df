import { expect } from 'chai';
import { type ApiError, readRefusal, readStatusError } from './client-errors.ts';

describe('kube/client-errors', () => {
  const waits: readonly (readonly [string, number | undefined])[] = [
    ['0', 0],
    ['7', 7000],
    ['300', 300_000],
    ['2592000', 300_000],
    ['1e300', 300_000],
    ['Infinity', 300_000],
    ['-1', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    ['NaN', undefined],
  ];
  for (const [value, wait] of waits) {
    it(`takes a Retry-After of ${value} for ${wait === undefined ? 'none' : `${wait} ms`}`, () => {
      expect(waitOf(readRefusal(429, '', value))).to.equal(wait);
    });
  }

  for (const [value, wait] of [
    [5, 5000],
    [1e12, 300_000],
    ['soon', undefined],
    [null, undefined],
  ] as const) {
    it(`takes ${value} seconds in a Status for ${wait === undefined ? 'none' : `${wait} ms`}`, () => {
      const status = { kind: 'Status', code: 429, details: { retryAfterSeconds: value } };
      expect(waitOf(readStatusError(status))).to.equal(wait);
      expect(waitOf(readRefusal(429, JSON.stringify(status), undefined))).to.equal(wait);
    });
  }
});

function waitOf(error: ApiError): number | undefined {
  return error.kind === 'refused' ? error.retryAfterMs : undefined;
}
