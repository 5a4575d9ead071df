import { type Controller, type PassCost, Tally } from './controller.ts';
import type { Verdict } from './event-filter.ts';

/**
 * A reconcile of its own for each event, whatever it changes, that starts at once and reads its object from the API. As many as there are
 * run side by side: that flatters it, since what is programmed in the kernel is behind locks.
 */
export class NaiveController implements Controller {
  readonly name = 'naive';
  readonly tally = new Tally();
  readonly #cost: PassCost;

  constructor(cost: PassCost) {
    this.#cost = cost;
  }

  take(verdict: Verdict, atMs: number): void {
    const costMs = this.tally.pass(1, this.#cost);
    this.tally.apiRequests += 1;
    this.tally.ended(atMs + costMs);
    if (verdict.kind === 'changes') this.tally.latencies.observe(verdict.level, costMs);
  }

  start(): void {}

  isSettled(): boolean {
    return true;
  }

  async stop(): Promise<void> {}
}
