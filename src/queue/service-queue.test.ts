import { expect } from 'chai';
import type { ChangeKind, Level } from './change.ts';
import type { QuarantineChange } from './quarantine.ts';
import { QueueMetrics } from './queue-metrics.ts';
import { ServiceQueue } from './service-queue.ts';
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from './settings.ts';

describe('queue/service-queue', () => {
  it('has nothing to do at first', () => {
    const { queue } = makeQueue();
    expect([queue.nextDueMs(), queue.drain(), queue.waiting()]).to.deep.equal([Number.POSITIVE_INFINITY, [], []]);
  });

  it('keeps one entry a Service, with the highest level, all kinds and the earliest due time', () => {
    const { queue, add, at } = makeQueue();
    add('shop/cart', 'low', 'minor');
    at(50);
    add('shop/cart', 'high', 'port-update');
    at(60);
    add('shop/cart', 'normal', 'address-update');
    expect(queue.nextDueMs()).to.equal(150);
    expect(queue.waiting()).to.deep.equal([
      { service: 'shop/cart', level: 'high', dueMs: 150, events: 3, failures: 0 },
    ]);
    at(150);
    expect(queue.drain()).to.deep.equal([
      {
        ...{ service: 'shop/cart', level: 'high', kinds: ['port-update', 'address-update', 'minor'] },
        ...{ firstEventMs: 0, events: 3, failures: 0, why: 'due' },
      },
    ]);
    expect([queue.nextDueMs(), queue.waiting()]).to.deep.equal([Number.POSITIVE_INFINITY, []]);
  });

  it('takes along what waits, the highest level first, the oldest first within a level', () => {
    const { add, at, drained } = makeQueue();
    add('shop/low', 'low');
    add('shop/normal', 'normal');
    at(10);
    add('shop/old', 'high');
    at(20);
    add('shop/young', 'high');
    add('shop/now', 'critical');
    expect(drained()).to.deep.equal([
      'shop/now: due',
      'shop/old: riding-along',
      'shop/young: riding-along',
      'shop/normal: riding-along',
      'shop/low: riding-along',
    ]);
  });

  it('has a Service due at once when it has absorbed ten events', () => {
    const { queue, add, at, drained } = makeQueue();
    for (let event = 1; event <= 9; event++) add('shop/cart', 'low');
    expect(queue.nextDueMs()).to.equal(2_000);
    at(30);
    add('shop/cart', 'low');
    expect(queue.nextDueMs()).to.equal(30);
    expect(drained()).to.deep.equal(['shop/cart: full-batch']);
  });

  describe('a Service in a pass', () => {
    it('waits for its end when something comes meanwhile', () => {
      const { queue, add, at, drained } = makeQueue();
      add('shop/cart', 'critical');
      drained();
      at(5);
      add('shop/cart', 'critical');
      expect([queue.nextDueMs(), drained()]).to.deep.equal([Number.POSITIVE_INFINITY, []]);
      at(20);
      queue.done('shop/cart', 'applied');
      expect(queue.nextDueMs()).to.equal(20);
      expect(queue.drain()).to.deep.include.members([
        {
          ...{ service: 'shop/cart', level: 'critical', kinds: ['address-update'], firstEventMs: 5 },
          ...{ events: 1, failures: 0, why: 'due' },
        },
      ]);
    });

    it('comes again for what it has not applied and for what came meanwhile, once', () => {
      const { queue, add, at, drained } = makeQueue();
      add('shop/cart', 'critical', 'service-added');
      drained();
      at(5);
      add('shop/cart', 'low', 'minor');
      at(10);
      queue.done('shop/cart', 'failed');
      expect(queue.nextDueMs()).to.equal(60);
      at(60);
      expect(queue.drain()).to.deep.equal([
        {
          ...{ service: 'shop/cart', level: 'critical', kinds: ['service-added', 'minor'], firstEventMs: 0 },
          ...{ events: 2, failures: 1, why: 'retry' },
        },
      ]);
    });

    it('is done once, and not at all when it is in none', () => {
      const { queue, add, drained } = makeQueue();
      add('shop/cart', 'critical');
      expect(queue.done('shop/cart', 'failed')).to.equal(undefined);
      drained();
      queue.done('shop/cart', 'applied');
      queue.done('shop/cart', 'failed');
      expect(queue.waiting()).to.deep.equal([]);
    });
  });

  describe('a Service that failed', () => {
    const paces: readonly (readonly [ChangeKind, readonly number[]])[] = [
      ['ready-to-not-ready', [50, 50, 50, 50, 50, 2_000]],
      ['service-added', [50, 50, 50, 50, 50, 2_000]],
      ['service-changed', [500, 1_000, 2_000, 4_000, 8_000, 16_000]],
      ['port-update', [500, 1_000, 2_000, 4_000, 8_000, 16_000]],
      ['minor', [2_000, 2_000, 2_000, 10_000, 10_000, 10_000]],
    ];
    for (const [kind, delaysMs] of paces) {
      it(`comes back after ${kind} in ${delaysMs.join(', ')} ms`, () => {
        const { queue, fail, now } = makeQueue({ quarantineAfterFailures: 10 });
        const waits = delaysMs.map(() => {
          fail('shop/cart', kind);
          return queue.nextDueMs() - now();
        });
        expect(waits).to.deep.equal(delaysMs);
      });
    }

    it('does not ride along with others, unless something new came', () => {
      const { queue, add, at, drained } = makeQueue();
      add('shop/cart', 'critical', 'service-changed');
      drained();
      queue.done('shop/cart', 'failed');
      at(100);
      add('shop/other', 'critical');
      expect(drained()).to.deep.equal(['shop/other: due']);
      queue.done('shop/other', 'applied');
      add('shop/cart', 'normal');
      at(200);
      add('shop/other', 'critical');
      expect(drained()).to.deep.equal(['shop/cart: riding-along', 'shop/other: due']);
    });

    it('comes before its retry for an event that is due earlier', () => {
      const { queue, add, at, drained } = makeQueue();
      add('shop/cart', 'critical', 'service-changed');
      drained();
      queue.done('shop/cart', 'failed');
      at(100);
      add('shop/cart', 'high');
      expect(queue.nextDueMs()).to.equal(200);
    });

    it('goes along with a full pass', () => {
      const { queue, add, drained } = makeQueue();
      add('shop/cart', 'critical', 'service-changed');
      drained();
      queue.done('shop/cart', 'failed');
      expect(drained()).to.deep.equal([]);
      expect(queue.drain('full').map(({ service, why }) => `${service}: ${why}`)).to.deep.equal([
        'shop/cart: riding-along',
      ]);
    });

    it('begins anew after it was applied', () => {
      const { queue, add, at, drained } = makeQueue({ quarantineAfterFailures: 10 });
      add('shop/cart', 'critical', 'service-changed');
      for (const [failures, dueMs] of [500, 1_500, 3_500].entries()) {
        expect(queue.drain().map((taken) => taken.failures)).to.deep.equal([failures]);
        queue.done('shop/cart', 'failed');
        expect(queue.nextDueMs()).to.equal(dueMs);
        at(dueMs);
      }
      drained();
      queue.done('shop/cart', 'applied');
      add('shop/cart', 'critical', 'service-changed');
      drained();
      queue.done('shop/cart', 'failed');
      expect(queue.nextDueMs()).to.equal(4_000);
    });
  });

  describe('a Service that was not tried because its pass failed as a whole', () => {
    it('asks for no pass, rides along with the next, and is not blamed', () => {
      const { queue, add, drained, heard } = makeQueue();
      add('shop/cart', 'critical', 'service-changed');
      for (let pass = 1; pass <= 5; pass++) {
        expect(drained()).to.deep.equal([pass === 1 ? 'shop/cart: due' : 'shop/cart: riding-along']);
        heard.length = 0;
        expect(queue.done('shop/cart', 'untried')).to.equal(undefined);
        expect([queue.nextDueMs(), heard]).to.deep.equal([Number.POSITIVE_INFINITY, []]);
      }
      expect(queue.waiting()).to.deep.equal([
        { service: 'shop/cart', level: 'critical', dueMs: Number.POSITIVE_INFINITY, events: 1, failures: 0 },
      ]);
      expect(queue.quarantined()).to.deep.equal([]);
    });

    it('keeps the count of its own failures', () => {
      const { queue, fail, at } = makeQueue();
      fail('shop/cart', 'service-changed');
      fail('shop/cart', 'service-changed');
      at(queue.nextDueMs());
      expect(queue.drain().map(({ failures }) => failures)).to.deep.equal([2]);
      queue.done('shop/cart', 'untried');
      expect(queue.drain().map(({ failures }) => failures)).to.deep.equal([2]);
      queue.done('shop/cart', 'failed');
      expect(queue.quarantined().map(({ failures }) => failures)).to.deep.equal([3]);
    });

    it('asks for a pass as ever when something new comes', () => {
      const { queue, add, at, drained, heard } = makeQueue();
      add('shop/cart', 'critical', 'service-changed');
      drained();
      queue.done('shop/cart', 'untried');
      at(1_000);
      heard.length = 0;
      add('shop/cart', 'high', 'port-update');
      expect([queue.nextDueMs(), heard]).to.deep.equal([1_100, ['high at 1100']]);
      at(1_100);
      expect(queue.drain()).to.deep.equal([
        {
          ...{ service: 'shop/cart', level: 'critical', kinds: ['service-changed', 'port-update'], firstEventMs: 0 },
          ...{ events: 2, failures: 0, why: 'due' },
        },
      ]);
    });

    it('comes again at once for what came during that pass', () => {
      const { queue, add, drained } = makeQueue();
      add('shop/cart', 'critical');
      drained();
      add('shop/cart', 'critical');
      queue.done('shop/cart', 'untried');
      expect([queue.nextDueMs(), drained()]).to.deep.equal([0, ['shop/cart: due']]);
    });

    it('rides along in quarantine, too, since its time had come', () => {
      const { queue, fail, at, drained, heard } = makeQueue();
      for (let failure = 1; failure <= 3; failure++) fail('shop/cart', 'service-changed');
      at(queue.nextDueMs());
      drained();
      queue.done('shop/cart', 'untried');
      heard.length = 0;
      expect([queue.nextDueMs(), drained(), heard]).to.deep.equal([
        Number.POSITIVE_INFINITY,
        ['shop/cart: riding-along'],
        ['taken'],
      ]);
    });

    it('takes no tokens while it waits', () => {
      const { queue, add, drained } = makeQueue({ passesPerSecond: 1, passBurst: 1 });
      add('shop/cart', 'critical');
      for (let pass = 1; pass <= 5; pass++) {
        expect(drained()).to.have.lengthOf(1);
        queue.done('shop/cart', 'untried');
      }
      add('shop/other', 'critical');
      expect(queue.nextDueMs()).to.equal(1_000);
    });
  });

  describe('quarantine', () => {
    it('begins with the third failure in a row, and ends when the Service is applied; both are told once', () => {
      const { queue, fail, add, drained, at } = makeQueue();
      const changes: (QuarantineChange['kind'] | undefined)[] = [];
      for (let failure = 1; failure <= 4; failure++) changes.push(fail('shop/cart', 'service-changed')?.kind);
      expect(changes).to.deep.equal([undefined, undefined, 'quarantined', undefined]);
      expect(queue.quarantined().map(({ service, failures }) => [service, failures])).to.deep.equal([['shop/cart', 4]]);
      at(queue.nextDueMs());
      expect(drained()).to.deep.equal(['shop/cart: retry']);
      expect(queue.done('shop/cart', 'applied')).to.include({ kind: 'released', failures: 4 });
      expect([queue.isQuarantined('shop/cart'), queue.quarantined()]).to.deep.equal([false, []]);
      add('shop/cart', 'low');
      expect(drained()).to.deep.equal(['shop/cart: riding-along']);
    });

    it('keeps a Service out of the passes of others, full ones as well, whatever happens to its endpoints', () => {
      const { queue, fail, add, at, drained } = makeQueue();
      for (let failure = 1; failure <= 3; failure++) fail('shop/cart', 'service-changed');
      const dueMs = queue.nextDueMs();
      for (let event = 1; event <= 20; event++) add('shop/cart', 'critical', 'not-ready-to-ready');
      add('shop/other', 'critical');
      expect(drained()).to.deep.equal(['shop/other: due']);
      expect(queue.drain('full')).to.deep.equal([]);
      expect(queue.nextDueMs()).to.equal(dueMs);
      at(dueMs);
      expect(queue.drain()).to.deep.include.members([
        {
          ...{ service: 'shop/cart', level: 'critical', kinds: ['service-changed', 'not-ready-to-ready'] },
          ...{ firstEventMs: 0, events: 21, failures: 3, why: 'retry' },
        },
      ]);
    });

    it('is tried again at the end of the batch window in which it is due, and never before its own time', () => {
      const { queue, fail, now } = makeQueue();
      const waits = [1, 2, 3, 4, 5].map(() => {
        fail('shop/cart', 'service-changed');
        return [now(), queue.nextDueMs()];
      });
      expect(waits).to.deep.equal([
        [0, 500],
        [500, 1_500],
        [1_500, 4_000],
        [4_000, 8_000],
        [8_000, 16_000],
      ]);
    });

    it('is tried again by as many Services at once as are due in one window', () => {
      const { queue, add, at, drained } = makeQueue({ quarantineAfterFailures: 1 });
      const startsMs = { 'shop/a': 0, 'shop/b': 200, 'shop/c': 310, 'shop/d': 350 };
      for (const [name, startMs] of Object.entries(startsMs)) {
        at(startMs);
        add(name, 'critical', 'service-changed');
        drained();
        queue.done(name, 'failed');
      }
      expect(queue.waiting().map(({ dueMs }) => dueMs)).to.deep.equal([800, 800, 1_600, 1_600]);
      at(800);
      expect(drained()).to.deep.equal(['shop/a: retry', 'shop/b: retry']);
    });

    it('is tried again at its own time when there is no batch window', () => {
      const { queue, fail } = makeQueue({ batchWindowMs: 0, quarantineAfterFailures: 1 });
      fail('shop/cart', 'service-changed');
      expect(queue.nextDueMs()).to.equal(500);
    });

    it('lets a change of the Service itself try again sooner', () => {
      const { queue, fail, add, now } = makeQueue();
      for (let failure = 1; failure <= 5; failure++) fail('shop/cart', 'service-changed');
      add('shop/cart', 'high', 'service-changed');
      expect(queue.nextDueMs()).to.equal(now() + 100);
    });

    it('holds for a Service that has events from during its last pass', () => {
      const { queue, add, at, drained } = makeQueue({ quarantineAfterFailures: 1 });
      add('shop/cart', 'critical', 'service-changed');
      drained();
      at(10);
      add('shop/cart', 'critical', 'not-ready-to-ready');
      queue.done('shop/cart', 'failed');
      expect([queue.nextDueMs(), drained()]).to.deep.equal([800, []]);
    });
  });

  describe('tokens', () => {
    const slow = { passesPerSecond: 1, passBurst: 1 };

    it('hold back the next pass when there are none, and nothing that rides along', () => {
      const { queue, add, at, drained } = makeQueue(slow);
      add('shop/cart', 'critical');
      expect([queue.nextDueMs(), drained().length]).to.deep.equal([0, 1]);
      queue.done('shop/cart', 'applied');
      at(100);
      for (const name of ['shop/a', 'shop/b', 'shop/c']) add(name, 'critical');
      expect(queue.nextDueMs()).to.equal(1_000);
      at(1_000);
      expect(drained()).to.deep.equal(['shop/a: due', 'shop/b: due', 'shop/c: due']);
    });

    it('are kept for what waits when a pass finds nothing to take', () => {
      const { queue, add, at, drained, heard } = makeQueue(slow);
      add('shop/cart', 'critical', 'service-changed');
      drained();
      queue.done('shop/cart', 'failed');
      heard.length = 0;
      for (const ms of [100, 200]) {
        at(ms);
        expect([drained(), queue.nextDueMs()]).to.deep.equal([[], 1_000]);
      }
      expect(heard).to.deep.equal(['taken', 'critical at 1000', 'taken', 'critical at 1000']);
    });

    it('are not used up in advance by passes that others have asked for', () => {
      const { queue, add, at, drained } = makeQueue(slow);
      add('shop/cart', 'critical');
      drained();
      queue.done('shop/cart', 'applied');
      for (let ms = 100; ms <= 900; ms += 100) {
        at(ms);
        add('shop/cart', 'critical');
        expect([queue.nextDueMs(), drained().length]).to.deep.equal([1_000, 1]);
        queue.done('shop/cart', 'applied');
      }
    });

    it('never bring anything forward', () => {
      const { queue, add, drained } = makeQueue({
        ...slow,
        levelDelaysMs: { critical: 0, high: 0, normal: 0, low: 30_000 },
      });
      add('shop/cart', 'low');
      add('shop/other', 'critical');
      drained();
      add('shop/cart', 'low');
      queue.done('shop/cart', 'applied');
      expect(queue.nextDueMs()).to.equal(30_000);
    });
  });

  describe('shut-down', () => {
    it('takes up nothing more, hands out nothing more and lets go whoever waits', async () => {
      const { queue, add, drained, heard } = makeQueue();
      add('shop/cart', 'critical');
      drained();
      add('shop/cart', 'critical');
      add('shop/other', 'critical');
      const waiting = [queue.whenIdle(), queue.whenIdle()];
      queue.shutDown();
      await Promise.all([...waiting, queue.whenIdle()]);
      expect(queue.add(change('shop/cart', 'critical'))).to.equal(false);
      queue.done('shop/cart', 'failed');
      expect([queue.nextDueMs(), queue.drain(), queue.waiting()]).to.deep.equal([Number.POSITIVE_INFINITY, [], []]);
      expect(heard.at(-1)).to.equal('taken');
    });
  });

  it('is idle when nothing waits and nothing is in a pass', async () => {
    const { queue, add, drained } = makeQueue();
    await queue.whenIdle();
    add('shop/cart', 'critical');
    let idle = false;
    const waiting = queue.whenIdle().then(() => {
      idle = true;
    });
    drained();
    await Promise.resolve();
    expect(idle).to.equal(false);
    queue.done('shop/cart', 'applied');
    await waiting;
  });

  it('tells its listener of each earlier time, of what is due at once, and what is left after a drain', () => {
    const { queue, add, at, heard, drained } = makeQueue();
    add('shop/a', 'low');
    add('shop/b', 'normal');
    add('shop/c', 'low');
    add('shop/d', 'critical');
    add('shop/e', 'critical');
    expect(heard).to.deep.equal(['low at 2000', 'normal at 500', 'critical at 0', 'critical at 0']);
    heard.length = 0;
    drained();
    queue.done('shop/a', 'failed');
    queue.done('shop/b', 'failed');
    expect(heard).to.deep.equal(['taken', 'low at 500']);
    at(500);
    heard.length = 0;
    drained();
    expect(heard).to.deep.equal(['taken']);
  });

  it('tells its observer what it does', () => {
    const metrics = new QueueMetrics();
    const { queue, add, at, drained } = makeQueue({}, metrics);
    add('shop/cart', 'high', 'port-update');
    add('shop/cart', 'low', 'minor');
    at(100);
    drained();
    add('shop/cart', 'low', 'minor');
    at(150);
    queue.done('shop/cart', 'failed');
    const { depth, adds, retries, latency, workDuration, outcomes } = metrics.read(150);
    expect({ depth, adds, retries, outcomes }).to.deep.equal({
      ...{ depth: 1, adds: 2, retries: { readiness: 0, update: 1, minor: 0 } },
      outcomes: { applied: 0, failed: 1, untried: 0 },
    });
    expect([latency.high.sum, workDuration.sum]).to.deep.equal([0.1, 0.05]);
  });

  it('refuses settings that make no sense', () => {
    expect(() => makeQueue({ batchSize: 0, passBurst: 0 })).to.throw(RangeError, 'batchSize, passBurst');
  });
});

function makeQueue(given: Partial<QueueSettings> = {}, observer?: QueueMetrics) {
  let nowMs = 0;
  const heard: string[] = [];
  const queue = new ServiceQueue({
    clock: { nowMs: () => nowMs },
    random: () => 0,
    settings: { ...DEFAULT_QUEUE_SETTINGS, ...given },
    listener: { dueAt: (dueMs, level) => heard.push(`${level} at ${dueMs}`), taken: () => heard.push('taken') },
    ...(observer ? { observer } : {}),
  });
  const at = (ms: number) => {
    nowMs = ms;
  };
  const add = (service: string, level: Level, kind?: ChangeKind) => queue.add(change(service, level, kind));
  const drained = () => queue.drain().map(({ service, why }) => `${service}: ${why}`);
  /** Has a Service tried now, or when it is due, and fail. */
  const fail = (service: string, kind: ChangeKind) => {
    if (queue.waiting().length === 0) add(service, 'critical', kind);
    at(Math.max(nowMs, queue.nextDueMs()));
    expect(drained()).to.have.lengthOf(1);
    return queue.done(service, 'failed');
  };
  return { queue, add, at, now: () => nowMs, drained, fail, heard };
}

function change(service: string, level: Level, kind: ChangeKind = 'address-update') {
  return { service, level, kind, readyBefore: 1, readyAfter: 1, magnitude: 0 };
}
