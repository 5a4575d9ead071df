import { BoundedFrequencyRunner } from '../queue/bounded-frequency-runner.ts';
import type { Level } from '../queue/change.ts';
import { type Controller, type PassCost, Tally } from './controller.ts';
import type { Verdict } from './event-filter.ts';
import type { SimulatedClock } from './simulated-clock.ts';

export interface PassTimes {
  readonly minSyncPeriodMs: number;
  readonly syncPeriodMs: number;
}

export interface PlainControllerOptions extends PassTimes {
  readonly clock: SimulatedClock;
  readonly cost: PassCost;
  /** Services at the moment. */
  readonly services: () => number;
}

interface Waiting {
  readonly level: Level;
  readonly atMs: number;
}

/**
 * kube-proxy's way: every event that changes something asks for a pass, a bounded-frequency runner with a burst of 2 lets passes start,
 * and each pass processes all Services.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/proxier.go (syncRunner, syncProxyRules)
 */
export class PlainController implements Controller {
  readonly name = 'kube-proxy';
  readonly tally = new Tally();
  readonly #options: PlainControllerOptions;
  readonly #runner: BoundedFrequencyRunner;
  #waiting: Waiting[] = [];
  #isAsked = true;
  #isRunning = false;

  constructor(options: PlainControllerOptions) {
    this.#options = options;
    this.#runner = new BoundedFrequencyRunner({
      clock: options.clock,
      minIntervalMs: options.minSyncPeriodMs,
      maxIntervalMs: options.syncPeriodMs,
      run: () => this.#pass(),
    });
  }

  take(verdict: Verdict, atMs: number): void {
    if (verdict.kind === 'dropped') {
      this.tally.dropped[verdict.reason] += 1;
      return;
    }
    if (verdict.kind === 'changes') this.#waiting.push({ level: verdict.level, atMs });
    this.#isAsked = true;
    this.#runner.request('change');
  }

  start(): void {
    this.#runner.request('start');
    this.#runner.start();
  }

  isSettled(): boolean {
    return !this.#isAsked && !this.#isRunning;
  }

  stop(): Promise<void> {
    return this.#runner.stop();
  }

  async #pass(): Promise<{ readonly kind: 'done' }> {
    const { clock, cost, services } = this.#options;
    const taken = this.#waiting;
    this.#waiting = [];
    this.#isAsked = false;
    this.#isRunning = true;
    await clock.wait(this.tally.pass(services(), cost));
    this.#isRunning = false;
    const nowMs = clock.nowMs();
    this.tally.ended(nowMs);
    for (const { level, atMs } of taken) this.tally.latencies.observe(level, nowMs - atMs);
    return { kind: 'done' };
  }
}
