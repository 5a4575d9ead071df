import type { Clock } from './clock.ts';

/** Resolves after `ms`, and at once when the signal is aborted. Leaves neither timer nor listener behind. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.after(ms, wake);
    if (signal?.aborted) wake();
    else signal?.addEventListener('abort', wake);
  });
}
