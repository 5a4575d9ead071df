import { expect } from 'chai';
import { DEFAULT_QUEUE_SETTINGS } from '../queue/settings.ts';
import { DEFAULT_SPEC, type GenerateSpec } from './generate-spec.ts';
import { generatePieces } from './generate-trace.ts';
import { type Replayed, type ReplaySettings, replayTrace } from './replay-trace.ts';
import { type ControllerReport, reportReplay } from './report.ts';
import type { TraceEvent } from './trace-event.ts';

const COST = { passMs: 20, serviceMs: 0.05 };
const PERIODS = { minSyncPeriodMs: 1_000, syncPeriodMs: 30_000 };

/** Runs a trace; what it says of one controller. */
async function run(
  trace: AsyncIterable<Iterable<TraceEvent>>,
  given: Partial<ReplaySettings> = {},
): Promise<{
  readonly replayed: Replayed;
  readonly of: (name: ControllerReport['name']) => ControllerReport;
}> {
  const replayed = await replayTrace(trace, {
    ...PERIODS,
    cost: COST,
    queue: DEFAULT_QUEUE_SETTINGS,
    nodeName: 'node-a',
    otherNodes: 'watched',
    problem: ({ object, message }) => expect.fail(`${object}: ${message}`),
    ...given,
  });
  const { controllers } = reportReplay(replayed);
  const of = (name: ControllerReport['name']) => {
    const report = controllers.find((each) => each.name === name);
    return report ?? expect.fail(`there is no ${name}`);
  };
  return { replayed, of };
}
const NONE = { flap: 0, replace: 0, scale: 0, minor: 0, noise: 0 };
const generate = (spec: Partial<GenerateSpec>) => run(generatePieces({ ...DEFAULT_SPEC, ...spec }));

describe('replay/replay-trace', () => {
  describe('with 500 slices and 200 changes a second for a minute', () => {
    let outcome: Awaited<ReturnType<typeof run>>;
    /** The most that a pass costs here: one over all Services. */
    const onePassMs = COST.passMs + 500 * COST.serviceMs;

    before(async function () {
      this.timeout(60_000);
      outcome = await generate({});
    });

    it('runs 60 passes a minute at most, where a naive controller runs more than 10,000', () => {
      expect(outcome.of('ipvs-proxier').passesPerMinute).to.be.at.most(60);
      expect(outcome.of('naive').passesPerMinute).to.be.at.least(10_000);
    });

    it('lets critical changes wait for the minimum and one pass at most', () => {
      const { critical } = outcome.of('ipvs-proxier').latencyMs;
      expect(critical.events).to.be.greaterThan(1_000);
      expect(critical.p99).to.be.at.most(PERIODS.minSyncPeriodMs + onePassMs);
      expect(critical.max).to.be.at.most(PERIODS.minSyncPeriodMs + 2 * onePassMs);
    });

    it('lets nothing wait longer than 2 seconds and one pass', () => {
      expect(outcome.of('ipvs-proxier').latencyMs.all.max).to.be.at.most(2_000 + onePassMs);
    });

    it('asks the API for nothing, where a naive controller asks once an event', () => {
      expect(outcome.of('ipvs-proxier').apiRequests).to.equal(0);
      expect(outcome.of('kube-proxy').apiRequests).to.equal(0);
      expect(outcome.of('naive').apiRequests).to.equal(13_000);
    });

    it('processes less than half of the Services that passes over everything do', () => {
      const [ours, theirs] = [outcome.of('ipvs-proxier'), outcome.of('kube-proxy')];
      expect(ours.servicesProcessed).to.be.lessThan(theirs.servicesProcessed / 2);
    });

    it('gives every event that changes something one latency, under the same level for each controller', () => {
      const { eventsDropped } = outcome.of('ipvs-proxier');
      const dropped = eventsDropped.immaterial + eventsDropped['not-ours'] + eventsDropped['same-version'];
      const counts = (['naive', 'kube-proxy', 'ipvs-proxier'] as const).map((name) =>
        Object.values(outcome.of(name).latencyMs).map(({ events }) => events),
      );
      expect(counts[1]).to.deep.equal(counts[0]);
      expect(counts[2]).to.deep.equal(counts[0]);
      expect(counts[0]?.[0]).to.equal(13_000 - dropped);
    });
  });

  it('runs no pass for noise, but the first one and the periodic ones', async () => {
    const { of } = await generate({ mix: { ...NONE, noise: 100 } });
    expect(of('ipvs-proxier').passes).to.equal(2);
    expect(of('ipvs-proxier').eventsDropped).to.deep.equal({ 'same-version': 0, immaterial: 12_000, 'not-ours': 0 });
    expect(of('naive').passes).to.equal(13_000);
  });

  it('lets minor changes wait for the delay of their level, one pass and no longer, each of them low', async () => {
    const { of } = await generate({ mix: { ...NONE, minor: 100 } });
    const { all, critical, low } = of('ipvs-proxier').latencyMs;
    expect([all.events, critical.events, low.events]).to.deep.equal([13_000, 1_000, 12_000]);
    expect(low.max).to.be.at.most(2_000 + COST.passMs + 500 * COST.serviceMs);
    // the first list, one in each delay of 2 s, and the one after the last change
    expect(of('ipvs-proxier').passes).to.be.at.most(1 + 60 / 2 + 1);
    expect(of('kube-proxy').passes).to.be.at.least(58);
  });

  it('gives the same report for the same trace', async () => {
    const spec = { slices: 20, seconds: 5 };
    expect(reportReplay((await generate(spec)).replayed)).to.deep.equal(reportReplay((await generate(spec)).replayed));
  });

  describe('with few events', () => {
    const object = (kind: 'Service' | 'EndpointSlice', version: number, rest: object) => ({
      apiVersion: 'v1',
      kind,
      metadata: {
        namespace: 'shop',
        name: 'cart',
        uid: kind,
        resourceVersion: `${version}`,
        labels: { 'kubernetes.io/service-name': 'cart' },
      },
      ...rest,
    });
    const service: TraceEvent = {
      atMs: 50,
      type: 'ADDED',
      kind: 'Service',
      object: object('Service', 1, { spec: { clusterIP: '172.20.1.1', ports: [{ port: 80 }] } }),
    };
    const slice = (atMs: number, ready: number): TraceEvent => ({
      atMs,
      type: 'MODIFIED',
      kind: 'EndpointSlice',
      object: object('EndpointSlice', atMs, {
        addressType: 'IPv4',
        ports: [{ port: 8080 }],
        endpoints: Array.from({ length: 10 }, (_, index) => ({
          addresses: [`10.180.0.${index}`],
          conditions: { ready: index < ready },
        })),
      }),
    });
    async function* pieces(...events: readonly TraceEvent[]) {
      yield events;
    }

    it('takes what comes at the first time for the first list, which the first pass contains', async () => {
      const { of, replayed } = await run(pieces(service, slice(50, 10)));
      expect(of('ipvs-proxier').passes).to.equal(1);
      expect(of('ipvs-proxier').latencyMs.critical).to.include({ events: 2, p50: 20.05, max: 20.05 });
      expect(replayed.durationMs).to.be.closeTo(1020.05, 0.001);
    });

    it('gives a change of a quiet cluster the delay of its level and one pass', async () => {
      const { of } = await run(pieces(service, slice(50, 10), slice(10_000, 9), slice(20_000, 0)));
      expect(of('ipvs-proxier').passes).to.equal(3);
      expect(of('ipvs-proxier').latencyMs.high).to.include({ events: 1, max: 120.05 });
      expect(of('ipvs-proxier').latencyMs.critical.max).to.equal(20.05);
      expect(of('kube-proxy').latencyMs.high).to.include({ events: 1, max: 20.05 });
    });

    for (const [runnerBurst, waitedMs] of [
      [1, 1_030.1],
      [2, 30.1],
    ] as const) {
      it(`lets ${runnerBurst} of our passes start without the minimum in between, as a setting`, async () => {
        const queue = { ...DEFAULT_QUEUE_SETTINGS, runnerBurst };
        const { of } = await run(pieces(service, slice(50, 10), slice(60, 0)), { queue });
        expect(of('ipvs-proxier').latencyMs.critical.max).to.be.closeTo(waitedMs, 0.001);
        expect(of('kube-proxy').latencyMs.critical.max).to.be.closeTo(30.1, 0.001);
      });
    }

    it('ends when each controller has settled, though there is always a periodic pass of one of them', async () => {
      const times = { minSyncPeriodMs: 0, syncPeriodMs: 1 };
      const { of } = await run(generatePieces({ ...DEFAULT_SPEC, slices: 20, seconds: 2 }), times);
      const counts = (['kube-proxy', 'ipvs-proxier'] as const).map((name) => of(name).latencyMs.all.events);
      expect(counts).to.deep.equal([of('naive').latencyMs.all.events, of('naive').latencyMs.all.events]);
    });

    it('runs one pass for nothing', async () => {
      const { of, replayed } = await run(pieces());
      expect([of('ipvs-proxier').passes, of('kube-proxy').passes, of('naive').passes]).to.deep.equal([1, 1, 0]);
      expect(replayed.events).to.equal(0);
    });

    it('throws when the trace cannot be had', async () => {
      async function* broken(): AsyncGenerator<readonly TraceEvent[]> {
        yield [service];
        throw new Error('a bug');
      }
      const ended = await run(broken()).catch((error: Error) => error.message);
      expect(ended).to.equal('a bug');
    });
  });
});
