import type { CancelTimer, Clock } from '../src/queue/clock.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** A clock that moves only when told to; timers fire in order of their due time, then of their creation. */
export class SteppedClock implements Clock {
  #nowMs = 0;
  #timers: Timer[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, run: () => void): CancelTimer {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Timers that have not fired, as milliseconds from now, ascending. */
  pending(): number[] {
    return this.#timers.map(({ dueMs }) => dueMs - this.#nowMs).sort((a, b) => a - b);
  }

  /** Moves on by `ms`, firing what falls due on the way and letting promise continuations run after each. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settle();
    for (let next = this.#earliest(); next && next.dueMs <= untilMs; next = this.#earliest()) {
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      this.#timers = this.#timers.filter((other) => other !== next);
      next.run();
      await settle();
    }
    this.#nowMs = untilMs;
  }

  #earliest(): Timer | undefined {
    return this.#timers.reduce<Timer | undefined>(
      (earliest, timer) => (earliest === undefined || timer.dueMs < earliest.dueMs ? timer : earliest),
      undefined,
    );
  }
}

/** Lets every promise continuation that is ready run, without real time passing. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
