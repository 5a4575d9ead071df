import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import type { PassReport, TimedOutcome } from './proxier.ts';
import { changedAnything, foreignThings, passFields } from './report-pass.ts';

describe('sync/report-pass', () => {
  const outcome = (family: 'IPv4' | 'IPv6', given: Partial<TimedOutcome>): TimedOutcome => ({
    state: { family, desired: desiredFor([]) },
    lookAfterMs: undefined,
    error: undefined,
    refusals: [],
    refused: [],
    leftovers: [],
    changedServices: 0,
    runs: [],
    draining: 0,
    closing: 0,
    plan: undefined,
    endedFlows: 0,
    flowsError: undefined,
    tookMs: 0,
    ...given,
  });
  const report = (families: readonly TimedOutcome[]): PassReport => ({
    kind: 'normal',
    reasons: ['services', 'endpoints'],
    tookMs: 12.7,
    families,
    errors: [],
    refusals: [],
  });

  it('adds up the times of each tool over both families, and counts a Service of both once', () => {
    const families = [
      outcome('IPv4', {
        changedServices: 2,
        runs: [
          { tool: 'ipset', lines: 1, tookMs: 3 },
          { tool: 'ipvs', lines: 9, tookMs: 7 },
        ],
      }),
      outcome('IPv6', { changedServices: 1, runs: [{ tool: 'ipset', lines: 1, tookMs: 4 }] }),
    ];
    expect(passFields(report(families), [])).to.deep.equal({
      pass: 'normal',
      reasons: ['endpoints', 'services'],
      ms: 13,
      services: 2,
      toolMs: { ipset: 7, ipvs: 7 },
    });
    expect(changedAnything(report(families))).to.equal(true);
  });

  it('counts the UDP flows that were ended, of both families together', () => {
    const families = [outcome('IPv4', { endedFlows: 2 }), outcome('IPv6', { endedFlows: 1 })];
    expect(passFields(report(families), [])).to.include({ 'end-udp-flow': 3 });
    expect(passFields(report([outcome('IPv4', {})]), [])).to.not.have.property('end-udp-flow');
  });

  it('says in one sentence a family why stale UDP flows may be left', () => {
    const flowsError = { during: 'ending stale UDP flows', message: 'conntrack failed with status 1: no' };
    expect(foreignThings(report([outcome('IPv4', {}), outcome('IPv6', { flowsError })]))).to.deep.equal([
      'stale IPv6 UDP flows may be left: conntrack failed with status 1: no',
    ]);
  });

  it('has changed nothing when no tool ran', () => {
    expect(changedAnything(report([outcome('IPv4', {})]))).to.equal(false);
    expect(changedAnything(report([]))).to.equal(false);
    expect(passFields(report([]), [])).to.deep.include({ services: 0, toolMs: {} });
  });
});
