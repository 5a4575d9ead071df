import { expect } from 'chai';
import { ip } from '../../test/builders/net.ts';
import { service, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { proxierOn } from '../../test/builders/proxier.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { type ServiceName, serviceName } from '../model/names.ts';
import { BoundedFrequencyRunner } from '../queue/bounded-frequency-runner.ts';
import { DueRequests } from '../queue/due-requests.ts';
import { QueueMetrics } from '../queue/queue-metrics.ts';
import { ServiceQueue } from '../queue/service-queue.ts';
import { DEFAULT_QUEUE_SETTINGS } from '../queue/settings.ts';
import { ChangeIntake } from './change-intake.ts';
import { PassLoop, type PassLoopOptions } from './pass-loop.ts';
import { PassMetrics } from './pass-metrics.ts';
import type { PassKind } from './proxier.ts';
import type { Refusal } from './sync-family.ts';

/** The daemon's queue, runner and pass loop together, without a minimum between passes. */
describe('sync/pass-loop.runner', () => {
  const cart = service();
  const others = Array.from({ length: 20 }, (_, n) =>
    service({ name: `shop/other-${n}`, addresses: [`172.20.2.${n + 1}`] }),
  );
  let kernel: MemoryKernel;
  let clock: SteppedClock;
  let queue: ServiceQueue;
  let intake: ChangeIntake;
  let runner: BoundedFrequencyRunner;
  /** When each pass began, in seconds. */
  let passes: number[];

  beforeEach(() => {
    kernel = memoryKernel({ eth0: ['192.168.0.10/24'] });
    const proxier = proxierOn(kernel);
    build(proxier);
    intake = new ChangeIntake(proxier.record, queue, DEFAULT_QUEUE_SETTINGS.thresholds, new QueueMetrics());
  });

  function build(proxier: PassLoopOptions['proxier']): void {
    clock = new SteppedClock();
    passes = [];
    runner = new BoundedFrequencyRunner({
      ...{ clock, minIntervalMs: 0, maxIntervalMs: 30_000 },
      run: (reasons) => {
        passes.push(clock.nowMs() / 1000);
        return loop.run(reasons);
      },
    });
    const listener = new DueRequests(clock, runner);
    queue = new ServiceQueue({ clock, random: () => 0, settings: DEFAULT_QUEUE_SETTINGS, listener });
    const log = { info: () => {}, debug: () => {}, warn: () => {} };
    const loop = new PassLoop({
      ...{ proxier, queue, metrics: new PassMetrics(), log },
      ...{ nowMs: () => clock.nowMs(), fullIntervalMs: 30_000 },
    });
  }

  afterEach(() => runner.stop());

  function start(): Promise<void> {
    runner.request('start');
    runner.start();
    return clock.advance(0);
  }

  describe('while a tool is broken', () => {
    const backoff = [0, 1, 3, 7, 15, 31, ...Array.from({ length: 18 }, (_, n) => 61 + 30 * n)];

    beforeEach(() => {
      kernel.missing.add('ipset');
      for (const each of [cart, ...others]) intake.service(undefined, each);
      intake.slice(undefined, slice({ endpoints: [sliceEndpoint('10.180.0.1')] }));
    });

    it('tries again after 1, 2, 4, … 30 s however many Services wait, and applies all of them in one pass when it is mended', async () => {
      await start();
      await clock.advance(600_000);
      expect(passes).to.deep.equal(backoff);
      expect(queue.waiting().map(({ failures }) => failures)).to.deep.equal(Array(21).fill(0));
      kernel.missing.clear();
      await clock.advance(20_000);
      expect(passes).to.deep.equal([...backoff, 601]);
      expect(queue.waiting()).to.deep.equal([]);
      const servers = kernel.ipvs.save().match(/^-A/gm);
      expect(servers).to.have.lengthOf(21);
    });

    it('tries at once for what is new, and goes on from there', async () => {
      await start();
      await clock.advance(10_000);
      intake.service(undefined, service({ name: 'shop/new', addresses: ['172.20.3.1'] }));
      await clock.advance(50_000);
      expect(passes).to.deep.equal([0, 1, 3, 7, 10, 26, 56]);
    });

    it('comes back to what failed on its own when everything else can be done again', async () => {
      await start();
      await clock.advance(5_000);
      kernel.addresses.refuse('172.20.1.1/32');
      kernel.missing.clear();
      await clock.advance(2_000);
      expect(queue.waiting()).to.deep.include({
        ...{ service: 'shop/cart', level: 'critical', dueMs: 7_050, events: 2, failures: 1 },
      });
    });
  });

  describe('with a hundred Services in quarantine', () => {
    const names = Array.from({ length: 100 }, (_, n) => serviceName('shop', `odd-${n}`));
    let refused: Set<ServiceName>;
    let tries: Map<string, number>;

    /** Each came at another time, so that the delays of each end at another time. */
    beforeEach(async () => {
      refused = new Set(names);
      tries = new Map();
      build({ kindOf: (asked) => asked, pass });
      await start();
      for (const name of names) {
        queue.add({
          service: name,
          kind: 'service-added',
          readyBefore: 1,
          readyAfter: 1,
          magnitude: 1,
          level: 'critical',
        });
        await clock.advance(37);
      }
      await clock.advance(20_000);
      expect(queue.quarantined()).to.have.lengthOf(100);
      passes = [];
      tries.clear();
    });

    async function pass(
      kind: PassKind,
      reasons: readonly string[],
      isTried: (service: ServiceName) => boolean = () => true,
    ) {
      const tried = [...refused].filter(isTried);
      for (const name of tried) tries.set(name, (tries.get(name) ?? 0) + 1);
      const refusals = tried.map((service): Refusal => {
        return { service, refused: { kind: 'address', address: ip('203.0.113.1') }, message: 'Invalid argument' };
      });
      return { kind, reasons, tookMs: 0, families: [], errors: [], refusals };
    }

    it('tries them together, in one pass a batch window at most, each on its own delays', async () => {
      await clock.advance(60_000);
      // one at the end of each window of 800 ms, and two full passes, which leave them out
      expect(passes.length).to.be.within(25, 77);
      // 2 s after a failure, and up to one window more
      expect([...tries.values()].filter((times) => times < 60 / 2.8 || times > 60 / 2)).to.deep.equal([]);
      expect(tries.size).to.equal(100);
    });

    it('needs as few passes to let all of them out again', async () => {
      refused.clear();
      await clock.advance(2_800);
      expect([queue.quarantined(), queue.waiting()]).to.deep.equal([[], []]);
      expect(passes.length).to.be.at.most(4);
    });
  });

  it('does not count a broken tool among the failures of a Service that fails', async () => {
    kernel.addresses.refuse('203.0.113.1/32');
    intake.service(undefined, { ...cart, externalIPs: [ip('203.0.113.1')] });
    await start();
    await clock.advance(50);
    expect(queue.waiting().map(({ failures }) => failures)).to.deep.equal([2]);
    kernel.missing.add('ipset');
    await clock.advance(120_000);
    expect(queue.waiting().map(({ failures }) => failures)).to.deep.equal([2]);
    expect(passes.length).to.be.at.most(10);
    kernel.missing.clear();
    await clock.advance(30_000);
    expect(queue.quarantined().map(({ service: name }) => name)).to.deep.equal(['shop/cart']);
  });
});
