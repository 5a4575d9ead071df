import type { Clock } from '../queue/clock.ts';

/** Gives a request up when nothing is heard for too long. */
export interface SilenceGuard {
  /** Aborted by silence, for the reason `TimeoutError`, and when the outer signal is. */
  readonly signal: AbortSignal;
  /** Whether it was silence. */
  readonly fired: () => boolean;
  /** Something was heard: the next silence may last `ms`. */
  readonly heard: (ms: number) => void;
  /** Ends the guard; the request is over. */
  readonly end: () => void;
}

/** Guards a request that begins now and may be silent for `ms` at first. */
export function guardSilence(clock: Clock, outer: AbortSignal, ms: number): SilenceGuard {
  const controller = new AbortController();
  const stop = () => controller.abort();
  let fired = false;
  const arm = (delayMs: number) =>
    clock.after(delayMs, () => {
      fired = true;
      controller.abort(new DOMException('the server fell silent', 'TimeoutError'));
    });
  let cancel = arm(ms);
  if (outer.aborted) stop();
  outer.addEventListener('abort', stop);
  return {
    signal: controller.signal,
    fired: () => fired,
    heard: (delayMs) => {
      cancel();
      if (!controller.signal.aborted) cancel = arm(delayMs);
    },
    end: () => {
      cancel();
      outer.removeEventListener('abort', stop);
    },
  };
}
