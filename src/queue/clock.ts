/** Cancels a timer; harmless when the timer has fired or was cancelled before. */
export type CancelTimer = () => void;

/**
 * The only source of time for everything that waits. Production code gets {@link systemClock}, tests a stepped one, so no
 * test ever sleeps.
 */
export interface Clock {
  /** Milliseconds on a clock that never goes backwards; its zero has no meaning. */
  nowMs(): number;
  /** Calls `run` once, `delayMs` (≥ 0) from now, never synchronously. */
  after(delayMs: number, run: () => void): CancelTimer;
}

/** The process's monotonic clock and its timers. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
