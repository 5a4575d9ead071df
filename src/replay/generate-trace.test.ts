import { expect } from 'chai';
import { DEFAULT_SPEC, type GenerateSpec } from './generate-spec.ts';
import { generateTrace } from './generate-trace.ts';
import { formatTraceEvent, parseTraceEvent } from './trace-event.ts';

interface MadeEndpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready: boolean };
  readonly hints?: { readonly forZones: readonly { readonly name: string }[] };
}

describe('replay/generate-trace', () => {
  const spec = { ...DEFAULT_SPEC, slices: 20, seconds: 10 };
  const linesOf = (given: GenerateSpec) => [...generateTrace(given)].map(formatTraceEvent);
  const only = (sort: keyof GenerateSpec['mix']): GenerateSpec['mix'] => ({
    ...{ flap: 0, replace: 0, scale: 0, minor: 0, noise: 0 },
    [sort]: 1,
  });

  it('gives the same trace for the same seed, byte for byte, and another one for another seed', () => {
    expect(linesOf(spec)).to.deep.equal(linesOf(spec));
    expect(linesOf({ ...spec, seed: 2 })).to.not.deep.equal(linesOf(spec));
  });

  it('gives all objects at 0, then as many changes a second as asked for, in order', () => {
    const events = [...generateTrace(spec)];
    expect(events.slice(0, 40).map(({ atMs, type, kind }) => `${atMs} ${type} ${kind}`)).to.deep.equal([
      ...Array<string>(20).fill('0 ADDED Service'),
      ...Array<string>(20).fill('0 ADDED EndpointSlice'),
    ]);
    const times = events.slice(40).map(({ atMs }) => atMs);
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    for (let second = 0; second < 10; second += 1) {
      const within = times.filter((ms) => ms > second * 1000 && ms <= (second + 1) * 1000);
      expect(within).to.have.lengthOf.within(199, 201);
    }
  });

  it('gives lines that a trace may have', () => {
    for (const line of linesOf(spec)) expect(parseTraceEvent(line).ok).to.equal(true);
  });

  it('names no zones without minor changes', () => {
    expect(linesOf(spec).filter((line) => line.includes('hints'))).to.deep.equal([]);
  });

  /** The endpoints of a slice before and after each change of it, as `ADDRESS ready`, with the zone that it is meant for, if any. */
  function changes(mix: GenerateSpec['mix']) {
    const known = new Map<string, readonly string[]>();
    return [...generateTrace({ ...spec, mix })].flatMap(({ kind, object }) => {
      if (kind !== 'EndpointSlice') return [];
      const { metadata, endpoints } = object as {
        readonly metadata: { readonly name: string };
        readonly endpoints: readonly MadeEndpoint[];
      };
      const after = endpoints.map(({ addresses, conditions, hints }) =>
        [addresses[0], conditions.ready, ...(hints?.forZones.map(({ name }) => name) ?? [])].join(' '),
      );
      const before = known.get(metadata.name);
      known.set(metadata.name, after);
      return before ? [{ before, after, gone: before.filter((one) => !after.includes(one)) }] : [];
    });
  }
  const addresses = (endpoints: readonly string[]) => endpoints.map((one) => one.split(' ')[0]);

  it('flaps: one endpoint changes its readiness and nothing else', () => {
    for (const { before, after, gone } of changes(only('flap'))) {
      expect(gone).to.have.lengthOf(1);
      expect(addresses(after)).to.deep.equal(addresses(before));
    }
  });

  it('replaces: as many endpoints, one of them at an address that none had', () => {
    for (const { before, after, gone } of changes(only('replace'))) {
      expect([gone.length, after.length]).to.deep.equal([1, before.length]);
      expect(addresses(before)).to.not.include.members(addresses(after));
    }
  });

  it('scales: one or two endpoints come or go', () => {
    const seen = changes(only('scale'));
    for (const { before, after } of seen) expect(Math.abs(after.length - before.length)).to.be.within(1, 2);
    expect(seen.some(({ before, after }) => after.length > before.length)).to.equal(true);
    expect(seen.some(({ before, after }) => after.length < before.length)).to.equal(true);
  });

  it('makes minor changes: one endpoint is meant for another zone than before, and nothing else', () => {
    const seen = changes(only('minor'));
    expect(seen).to.have.lengthOf(2_000);
    for (const { before, after, gone } of seen) {
      expect([gone.length, addresses(after)]).to.deep.equal([1, addresses(before)]);
      expect(after.filter((one) => !before.includes(one)).join()).to.match(/ true zone-[012]$/);
    }
  });

  it('makes noise in Services and slices that changes no endpoint, in a new version each time', () => {
    const events = [...generateTrace({ ...spec, mix: only('noise') })];
    for (const { before, after } of changes(only('noise'))) expect(after).to.deep.equal(before);
    const versions = events.map(({ object }) => (object.metadata as { resourceVersion: string }).resourceVersion);
    expect(new Set(versions).size).to.equal(events.length);
    expect(new Set(events.slice(40).map(({ kind }) => kind)).size).to.equal(2);
  });
});
