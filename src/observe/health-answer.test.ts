import { expect } from 'chai';
import { formatTime, healthBody } from './health-answer.ts';

describe('observe/health-answer', () => {
  const TIMES: readonly (readonly [number | undefined, string])[] = [
    [undefined, '0001-01-01T00:00:00Z'],
    [0, '1970-01-01T00:00:00Z'],
    [1_767_225_610_000, '2026-01-01T00:00:10Z'],
    [1_767_225_610_120, '2026-01-01T00:00:10.12Z'],
    [1_767_225_610_001, '2026-01-01T00:00:10.001Z'],
  ];
  for (const [ms, text] of TIMES) {
    it(`writes ${text} without digits that say nothing`, () => expect(formatTime(ms)).to.equal(text));
  }

  it('says that all is well now, or when it last was', () => {
    const reading = { healthy: true, families: new Map(), lastUpdatedMs: 1000 };
    const [well, ill] = ([200, 503] as const).map((status) => JSON.parse(healthBody(reading, false, status, 2000)));
    expect(well.lastUpdated).to.equal('1970-01-01T00:00:02Z');
    expect(ill.lastUpdated).to.equal('1970-01-01T00:00:01Z');
    expect(ill).to.not.have.property('status');
  });
});
