import type { CancelTimer, Clock } from '../queue/clock.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** A clock that jumps from one timer to the next: an hour without any takes no time. */
export class SimulatedClock implements Clock {
  #nowMs = 0;
  /** A handful at any time, in the order of their creation. */
  readonly #timers = new Set<Timer>();

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): CancelTimer {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Resolves when so much time has passed. */
  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Moves on to a time, firing what falls due on the way; what was resolved goes on before the next timer fires. */
  async advanceTo(untilMs: number): Promise<void> {
    for (let next = this.#earliest(); next && next.dueMs <= untilMs; next = this.#earliest()) await this.#fire(next);
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  /** Moves on to the next timer; false when there is none. */
  async advanceToNext(): Promise<boolean> {
    const next = this.#earliest();
    if (next) await this.#fire(next);
    return next !== undefined;
  }

  async #fire(timer: Timer): Promise<void> {
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    this.#timers.delete(timer);
    timer.run();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Of several that are due at the same time the oldest. */
  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) if (!earliest || timer.dueMs < earliest.dueMs) earliest = timer;
    return earliest;
  }
}
