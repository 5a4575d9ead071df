/** Cancels a timer; harmless when the timer has fired or was cancelled before. */
export type CancelTimer = () => void;

/**
 * The only source of time for everything that waits. Production code gets {@link systemClock}, tests a stepped one, so no
 * test ever sleeps.
 */
export interface Clock {
  /** Milliseconds on a clock that never goes backwards; its zero has no meaning. */
  nowMs(): number;
  /** Calls `run` once, `delayMs` (≥ 0, however long) from now, never synchronously. */
  after(delayMs: number, run: () => void): CancelTimer;
}

/** The process's monotonic clock and its timers. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    const dueMs = performance.now() + delayMs;
    const arm = (leftMs: number): NodeJS.Timeout =>
      setTimeout(
        () => {
          if (leftMs <= MAX_TIMEOUT_MS) run();
          else timer = arm(dueMs - performance.now());
        },
        Math.min(leftMs, MAX_TIMEOUT_MS),
      );
    let timer = arm(delayMs);
    return () => clearTimeout(timer);
  },
};

/** What `setTimeout` can wait for; it takes more for 1 ms. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
