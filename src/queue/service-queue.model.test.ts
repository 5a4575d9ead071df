import { expect } from 'chai';
import fc from 'fast-check';
import {
  CHANGE_KINDS,
  type ChangeKind,
  LEVEL_RANKS,
  LEVELS,
  type Level,
  RETRY_SORT_OF,
  RETRY_SORTS,
} from './change.ts';
import type { PassScope, TakenService } from './queue-entry.ts';
import { QueueMetrics, WORK_OUTCOMES, type WorkOutcome } from './queue-metrics.ts';
import { retryDelayMs } from './retry-limiters.ts';
import { ServiceQueue } from './service-queue.ts';
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from './settings.ts';

const RUNS = 500;
/** `FC_SEED=… npx mocha …` repeats a run. */
const SEED = Number(process.env.FC_SEED ?? Math.floor(Math.random() * 2 ** 31));

describe('queue/service-queue.model', () =>
  describe(`FC_SEED=${SEED}`, function () {
    this.timeout(60_000);

    it('loses no event: all are applied in the end, each once', () =>
      check({}, (world) => {
        rest(world);
        for (const service of SERVICES) {
          const applied = world.outcomes.filter((each) => each.service === service && each.outcome === 'applied');
          const events = applied.reduce((sum, { taken }) => sum + taken.events, 0);
          expect(events).to.equal(world.adds.filter((add) => add.service === service).length);
        }
        expect([world.queue.waiting(), world.queue.nextDueMs()]).to.deep.equal([[], Number.POSITIVE_INFINITY]);
        const { depth, adds, longestRunningSeconds } = world.metrics.read(world.time.nowMs);
        expect({ depth, longestRunningSeconds }).to.deep.equal({ depth: 0, longestRunningSeconds: 0 });
        expect(adds).to.be.at.most(world.adds.length);
      }));

    it('lets no event wait longer than its delay, but for the end of its pass and in quarantine', () =>
      check({}, (world) => {
        rest(world);
        for (const add of world.adds) {
          if (add.quarantined) continue;
          const freeMs = add.inPass
            ? world.outcomes.find((each) => each.order > add.order && each.service === add.service)
            : undefined;
          if (freeMs?.quarantined) continue;
          const taken = world.passes.find((pass) => pass.order > add.order && pass.services.has(add.service));
          expect(taken?.atMs).to.be.at.most(Math.max(add.atMs + delayOf(add.level), freeMs?.atMs ?? 0));
        }
      }));

    it('never postpones anything for a later event', () =>
      check({}, ({ adds }) => {
        for (const { dueBeforeMs, dueAfterMs, nextBeforeMs, nextAfterMs } of adds) {
          expect(dueAfterMs).to.be.at.most(dueBeforeMs);
          expect(nextAfterMs).to.be.at.most(nextBeforeMs);
        }
      }));

    it('hands out the highest level first, the oldest event first within a level, and each Service once', () =>
      check({}, ({ passes }) => {
        for (const { taken, services } of passes) {
          const order = taken.map(({ level, firstEventMs }) => [LEVEL_RANKS[level], firstEventMs] as const);
          expect(order).to.deep.equal([...order].sort(([a, aMs], [b, bMs]) => a - b || aMs - bMs));
          expect(services.size).to.equal(taken.length);
        }
      }));

    it('hands out all that is not applied of a Service, as one', () =>
      check({}, (world) => {
        for (const { order, taken } of world.passes) {
          for (const { service, level, kinds, firstEventMs, events } of taken) {
            const applied = world.outcomes.filter((each) => each.service === service && each.outcome === 'applied');
            const since = applied.filter((each) => each.order < order).at(-1)?.takenOrder ?? -1;
            const open = world.adds.filter((add) => add.service === service && add.order > since && add.order < order);
            expect({ level, kinds, firstEventMs, events }).to.deep.equal({
              level: LEVELS.find((each) => open.some((add) => add.level === each)),
              kinds: CHANGE_KINDS.filter((kind) => open.some((add) => add.kind === kind)),
              firstEventMs: open[0]?.atMs,
              events: open.length,
            });
          }
        }
      }));

    it('takes along all that waits for its first try, and nothing in a pass', () =>
      check({}, ({ passes }) => {
        for (const { services, waitingFresh, inPass } of passes) {
          expect(services.isSupersetOf(waitingFresh)).to.equal(true);
          expect(services.isDisjointFrom(inPass)).to.equal(true);
        }
      }));

    it('takes along with the very next pass what an earlier one did not come to try', () =>
      check({}, ({ passes, outcomes }) => {
        for (const { order, services, inPass } of passes) {
          for (const service of SERVICES) {
            const last = outcomes.filter((each) => each.service === service && each.order < order).at(-1);
            if (last?.outcome === 'untried' && !inPass.has(service)) expect([...services]).to.include(service);
          }
        }
      }));

    it('needs no pass for what was not tried, until something new comes', () =>
      check({}, (world) => {
        rest(world);
        for (const outcome of WORK_OUTCOMES) {
          world.queue.add(change('shop/a', 'critical', 'service-added'));
          advance(world, 0);
          finish(world, 'shop/a', outcome);
          const isOver = outcome !== 'failed';
          expect(world.queue.nextDueMs() === Number.POSITIVE_INFINITY, outcome).to.equal(isOver);
        }
      }));

    it('lets what failed wait for its own delay, unless an event or a full pass comes first', () =>
      check({}, (world) => {
        for (const { order, atMs, scope, taken } of world.passes) {
          for (const { service, why } of taken) {
            const last = world.outcomes.filter((each) => each.service === service && each.order < order).at(-1);
            if (last?.outcome !== 'failed') continue;
            const since = last.takenOrder;
            const news = world.adds.filter((add) => add.service === service && add.order > since && add.order < order);
            const heeded = last.quarantined ? news.filter(({ kind }) => kind.startsWith('service-')) : news;
            const mayComeEarly = heeded.length > 0 || (scope === 'full' && !last.quarantined);
            if (why === 'retry' || !mayComeEarly) expect(atMs).to.be.at.least(last.atMs + nominalDelayMs(last));
          }
        }
      }));

    it('holds back what is due by the later of its own time and that of a token, never by the earlier', () =>
      check({ passesPerSecond: 2, passBurst: 2 }, (world) => {
        const started = world.passes.filter(({ taken }) => taken.length > 0);
        const asked = started.filter(({ extra }) => !extra);
        for (const { atMs, taken } of asked)
          expect(
            taken.some(({ why }) => why !== 'riding-along'),
            `${atMs}`,
          ).to.equal(true);
        // one token may have been taken before the first of them, two are there, and the last one needs a new one
        for (const last of started.keys()) {
          const row = started.slice(Math.max(0, last - 3), last + 1);
          if (row.length < 4 || row.some(({ extra }) => extra)) continue;
          expect((row[3]?.atMs ?? 0) - (row[0]?.atMs ?? 0)).to.be.at.least(500 - 1e-6);
        }
      }));

    it('starves nothing, however scarce the tokens', () =>
      check({ passesPerSecond: 2, passBurst: 1 }, (world) => {
        rest(world);
        for (const add of world.adds) {
          const taken = world.passes.find((pass) => pass.order > add.order && pass.services.has(add.service));
          expect(taken, `${add.service} of ${add.atMs}`).not.equal(undefined);
        }
        expect(world.queue.waiting()).to.deep.equal([]);
      }));

    it('forgets failures when a Service was applied, and counts them until then', () =>
      check({}, (world) => {
        for (const { order, taken } of world.passes) {
          for (const { service, failures } of taken) {
            const before = world.outcomes.filter((each) => each.service === service && each.order < order);
            const lastApplied = before.findLastIndex(({ outcome }) => outcome === 'applied');
            const since = before.slice(lastApplied + 1).filter(({ outcome }) => outcome === 'failed');
            expect(failures).to.equal(since.length);
          }
        }
      }));

    it('tells of quarantine once when it begins and once when it ends', () =>
      check({}, ({ outcomes }) => {
        for (const service of SERVICES) {
          const told = outcomes.filter((each) => each.service === service).flatMap(({ change }) => change ?? []);
          expect(told).to.deep.equal(told.map((_, index) => (index % 2 === 0 ? 'quarantined' : 'released')));
        }
      }));

    it('lets go of everything when it is shut down, at any time', async () => {
      await fc.assert(
        fc.asyncProperty(fc.commands(events, { maxCommands: 20, size: 'max' }), async (commands) => {
          const world = makeWorld({});
          fc.modelRun(() => ({ model: {}, real: world }), commands);
          const waiting = world.queue.whenIdle();
          world.queue.shutDown();
          await Promise.all([waiting, world.queue.whenIdle()]);
          for (const { service } of world.inPass.values()) world.queue.done(service, 'failed');
          expect(world.queue.add(change('shop/a', 'critical', 'minor'))).to.equal(false);
          expect([world.queue.drain('full'), world.queue.waiting()]).to.deep.equal([[], []]);
          expect(world.queue.nextDueMs()).to.equal(Number.POSITIVE_INFINITY);
        }),
        PARAMETERS,
      );
    });
  }));

const PARAMETERS = { numRuns: RUNS, seed: SEED } as const;
const SERVICES = ['shop/a', 'shop/b', 'shop/c', 'shop/d'];
const RANDOM = 0.5;

interface World {
  readonly queue: ServiceQueue;
  readonly metrics: QueueMetrics;
  readonly settings: QueueSettings;
  readonly time: { nowMs: number };
  /** Counts what happens, so that what happens at one time has an order. */
  order: number;
  readonly adds: Add[];
  readonly passes: Pass[];
  readonly outcomes: Outcome[];
  /** With the order of the pass. */
  readonly inPass: Map<string, TakenService & { readonly order: number }>;
}

interface Add {
  readonly order: number;
  readonly atMs: number;
  readonly service: string;
  readonly level: Level;
  readonly kind: ChangeKind;
  readonly inPass: boolean;
  readonly quarantined: boolean;
  readonly dueBeforeMs: number;
  readonly dueAfterMs: number;
  readonly nextBeforeMs: number;
  readonly nextAfterMs: number;
}

interface Pass {
  readonly order: number;
  readonly atMs: number;
  readonly scope: PassScope;
  /** Nothing asked for it. */
  readonly extra: boolean;
  readonly taken: readonly TakenService[];
  readonly services: ReadonlySet<string>;
  readonly waitingFresh: ReadonlySet<string>;
  readonly inPass: ReadonlySet<string>;
}

interface Outcome {
  readonly order: number;
  readonly atMs: number;
  readonly service: string;
  readonly outcome: WorkOutcome;
  readonly taken: TakenService;
  readonly takenOrder: number;
  readonly change: string | undefined;
  /** After it. */
  readonly quarantined: boolean;
}

type Model = Record<string, never>;

class Event implements fc.Command<Model, World> {
  readonly #text: string;
  readonly #run: (world: World) => void;

  constructor(text: string, run: (world: World) => void) {
    this.#text = text;
    this.#run = run;
  }

  check(): boolean {
    return true;
  }

  run(_: Model, world: World): void {
    this.#run(world);
  }

  toString(): string {
    return this.#text;
  }
}

const anyKind = fc.constantFrom(...CHANGE_KINDS);
const anyScope = fc.constantFrom('normal', 'normal', 'full') satisfies fc.Arbitrary<PassScope>;

const anyAdd = fc
  .tuple(fc.constantFrom(...SERVICES), fc.constantFrom(...LEVELS), anyKind)
  .map(
    ([service, level, kind]) =>
      new Event(`add ${service} ${level} ${kind}`, (world) => add(world, service, level, kind)),
  );

const events = [
  anyAdd,
  anyAdd,
  fc.nat({ max: 3_000 }).map((byMs) => new Event(`advance ${byMs}`, (world) => advance(world, byMs))),
  fc.nat({ max: 100 }).map((byMs) => new Event(`advance ${byMs}`, (world) => advance(world, byMs))),
  fc
    .tuple(fc.constantFrom(...SERVICES), fc.constantFrom(...WORK_OUTCOMES, 'failed'))
    .map(([service, outcome]) => new Event(`${service} ${outcome}`, (world) => finish(world, service, outcome))),
  fc
    .constantFrom(...WORK_OUTCOMES, 'failed')
    .map((outcome) => new Event(`all ${outcome}`, (world) => finishAll(world, outcome))),
  anyScope.map((scope) => new Event(`extra ${scope} pass`, (world) => pass(world, scope, true))),
];

function check(settings: Partial<QueueSettings>, inspect: (world: World) => void): void {
  fc.assert(
    fc.property(fc.commands(events, { maxCommands: 60, size: 'max' }), (commands) => {
      const world = makeWorld(settings);
      fc.modelRun(() => ({ model: {}, real: world }), commands);
      inspect(world);
    }),
    PARAMETERS,
  );
}

function makeWorld(given: Partial<QueueSettings>): World {
  const metrics = new QueueMetrics();
  const settings = { ...DEFAULT_QUEUE_SETTINGS, passBurst: 10_000, ...given };
  const time = { nowMs: 0 };
  const clock = { nowMs: () => time.nowMs };
  const queue = new ServiceQueue({ clock, random: () => RANDOM, settings, observer: metrics });
  return { queue, metrics, settings, time, order: 0, adds: [], passes: [], outcomes: [], inPass: new Map() };
}

function add(world: World, service: string, level: Level, kind: ChangeKind): void {
  const { queue } = world;
  const atMs = world.time.nowMs;
  const [dueBeforeMs, nextBeforeMs] = [dueOf(world, service), queue.nextDueMs()];
  queue.add(change(service, level, kind));
  const [dueAfterMs, nextAfterMs] = [dueOf(world, service), queue.nextDueMs()];
  const [inPass, quarantined] = [world.inPass.has(service), queue.isQuarantined(service)];
  world.adds.push({
    ...{ order: world.order++, atMs, service, level, kind, inPass, quarantined },
    ...{ dueBeforeMs, dueAfterMs, nextBeforeMs, nextAfterMs },
  });
}

/** Lets time pass; a pass starts whenever one is needed. */
function advance(world: World, byMs: number): void {
  const untilMs = world.time.nowMs + byMs;
  for (let nextMs = world.queue.nextDueMs(); nextMs <= untilMs; nextMs = world.queue.nextDueMs()) {
    world.time.nowMs = Math.max(world.time.nowMs, nextMs);
    pass(world, 'normal', false);
  }
  world.time.nowMs = untilMs;
}

function pass(world: World, scope: PassScope, extra: boolean): void {
  const { queue, passes, order } = world;
  const atMs = world.time.nowMs;
  const inPass = new Set(world.inPass.keys());
  const untried = world.adds.filter(({ service, order: added }) => {
    const tried = passes.some((each) => each.order > added && each.services.has(service));
    return !tried && !inPass.has(service) && !queue.isQuarantined(service);
  });
  const waitingFresh = new Set(untried.map(({ service }) => service));
  const taken = queue.drain(scope);
  const services = new Set(taken.map(({ service }) => service));
  passes.push({ order, atMs, scope, extra, taken, services, waitingFresh, inPass });
  for (const each of taken) world.inPass.set(each.service, { ...each, order });
  world.order += 1;
}

function finish(world: World, service: string, outcome: WorkOutcome): void {
  const taken = world.inPass.get(service);
  const change = world.queue.done(service, outcome)?.kind;
  if (!taken) return;
  world.inPass.delete(service);
  const quarantined = world.queue.isQuarantined(service);
  const atMs = world.time.nowMs;
  world.outcomes.push({
    order: world.order++,
    atMs,
    service,
    outcome,
    taken,
    takenOrder: taken.order,
    change,
    quarantined,
  });
}

function finishAll(world: World, outcome: WorkOutcome): void {
  for (const service of [...world.inPass.keys()]) finish(world, service, outcome);
}

/** Applies everything until nothing waits; what was not tried gets a pass of its own. */
function rest(world: World): void {
  for (let round = 0; round < 50; round++) {
    finishAll(world, 'applied');
    if (world.queue.waiting().length === 0) return;
    if (world.queue.nextDueMs() === Number.POSITIVE_INFINITY) pass(world, 'normal', true);
    else advance(world, Math.max(0, world.queue.nextDueMs() - world.time.nowMs));
  }
  throw new Error('the queue does not come to rest');
}

function dueOf({ queue }: World, service: string): number {
  return queue.waiting().find((each) => each.service === service)?.dueMs ?? Number.POSITIVE_INFINITY;
}

function delayOf(level: Level): number {
  return DEFAULT_QUEUE_SETTINGS.levelDelaysMs[level];
}

function nominalDelayMs({ taken }: Outcome): number {
  const sorts = taken.kinds.map((kind) => RETRY_SORT_OF[kind]);
  const sort = RETRY_SORTS.find((each) => sorts.includes(each)) ?? 'minor';
  return retryDelayMs(DEFAULT_QUEUE_SETTINGS.retries[sort], taken.failures);
}

function change(service: string, level: Level, kind: ChangeKind) {
  return { service, level, kind, readyBefore: 1, readyAfter: 1, magnitude: 0 };
}
