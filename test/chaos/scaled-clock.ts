import type { Clock } from '../../src/queue/clock.ts';

/** A clock that runs `factor` times as fast as the system's. */
export function scaledClock(factor: number): Clock {
  return {
    nowMs: () => performance.now() * factor,
    after: (delayMs, run) => {
      const timer = setTimeout(run, delayMs / factor);
      return () => clearTimeout(timer);
    },
  };
}
