import { BoundedFrequencyRunner } from '../queue/bounded-frequency-runner.ts';
import type { Level } from '../queue/change.ts';
import { DueRequests } from '../queue/due-requests.ts';
import type { TakenService } from '../queue/queue-entry.ts';
import type { WorkOutcome } from '../queue/queue-metrics.ts';
import { ServiceQueue } from '../queue/service-queue.ts';
import type { QueueSettings } from '../queue/settings.ts';
import type { ClusterRecord } from '../sync/cluster-record.ts';
import { PassLoop } from '../sync/pass-loop.ts';
import { PassMetrics } from '../sync/pass-metrics.ts';
import type { PassKind, PassReport } from '../sync/proxier.ts';
import { type Controller, Tally } from './controller.ts';
import type { Verdict } from './event-filter.ts';
import type { PlainControllerOptions } from './plain-controller.ts';

export interface QueueControllerOptions extends PlainControllerOptions {
  readonly queue: QueueSettings;
  readonly record: Pick<ClusterRecord, 'trackers'>;
}

interface Waiting {
  readonly level: Level;
  readonly atMs: number;
}

/**
 * This project's way: the daemon's queue, runner and pass loop. Only a pass itself is a matter of cost: a normal one processes the Services
 * that the queue hands out, a full one all.
 */
export class QueueController implements Controller {
  readonly name = 'ipvs-proxier';
  readonly tally = new Tally();
  readonly #options: QueueControllerOptions;
  readonly #runner: BoundedFrequencyRunner;
  readonly #queue: ServiceQueue;
  /** Events by Service until a pass takes it, and from then on until the pass ends. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #inPass = new Map<string, readonly Waiting[]>();
  #taken = 0;
  #isAsked = true;
  #isRunning = false;

  constructor(options: QueueControllerOptions) {
    this.#options = options;
    const { clock, queue: settings } = options;
    this.#runner = new BoundedFrequencyRunner({
      clock,
      minIntervalMs: options.minSyncPeriodMs,
      maxIntervalMs: options.syncPeriodMs,
      burst: settings.runnerBurst,
      run: (reasons) => passes.run(reasons),
    });
    const listener = new DueRequests(clock, this.#runner);
    this.#queue = new ServiceQueue({ clock, random: () => 0.5, settings, listener });
    const passes = new PassLoop({
      proxier: { kindOf: (asked) => asked, pass: (kind, reasons) => this.#pass(kind, reasons) },
      queue: {
        add: (change) => this.#queue.add(change),
        drain: (scope = 'normal') => this.#drain(scope),
        done: (service, outcome) => this.#done(service, outcome),
        isQuarantined: (service) => this.#queue.isQuarantined(service),
      },
      metrics: new PassMetrics(),
      log: SILENT,
      nowMs: () => clock.nowMs(),
      fullIntervalMs: options.syncPeriodMs,
    });
  }

  take(verdict: Verdict, atMs: number): void {
    switch (verdict.kind) {
      case 'dropped':
        this.tally.dropped[verdict.reason] += 1;
        return;
      case 'node':
        this.#isAsked = true;
        this.#runner.request(verdict.reason);
        return;
      default:
        this.#wait(verdict, atMs);
        for (const change of verdict.changes) this.#queue.add(change);
    }
  }

  start(): void {
    this.#runner.request('start');
    this.#runner.start();
  }

  isSettled(): boolean {
    return !this.#isAsked && !this.#isRunning && this.#waiting.size + this.#inPass.size === 0;
  }

  stop(): Promise<void> {
    this.#queue.shutDown();
    return this.#runner.stop();
  }

  /** An event counts once, for the Service of its most urgent change. */
  #wait({ level, changes }: Extract<Verdict, { kind: 'changes' }>, atMs: number): void {
    const service = changes.find((change) => change.level === level)?.service ?? '';
    const events = this.#waiting.get(service);
    if (events) events.push({ level, atMs });
    else this.#waiting.set(service, [{ level, atMs }]);
  }

  #drain(scope: PassKind): readonly TakenService[] {
    const taken = this.#queue.drain(scope);
    this.#taken = taken.length;
    for (const { service } of taken) {
      this.#inPass.set(service, this.#waiting.get(service) ?? []);
      this.#waiting.delete(service);
    }
    return taken;
  }

  #done(service: string, outcome: WorkOutcome) {
    const nowMs = this.#options.clock.nowMs();
    for (const { level, atMs } of this.#inPass.get(service) ?? []) this.tally.latencies.observe(level, nowMs - atMs);
    this.#inPass.delete(service);
    return this.#queue.done(service, outcome);
  }

  async #pass(kind: PassKind, reasons: readonly string[]): Promise<PassReport> {
    const { clock, cost, services, record } = this.#options;
    this.#isAsked = false;
    this.#isRunning = true;
    for (const tracker of record.trackers) tracker.takePendingChanges();
    const tookMs = this.tally.pass(kind === 'full' ? services() : this.#taken, cost);
    await clock.wait(tookMs);
    this.#isRunning = false;
    this.tally.ended(clock.nowMs());
    return { kind, reasons, tookMs, families: [], errors: [], refusals: [] };
  }
}

const SILENT = { info: () => {}, debug: () => {}, warn: () => {} };
