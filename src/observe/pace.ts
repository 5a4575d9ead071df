import { setImmediate } from 'node:timers/promises';

/** To be awaited again and again in long work: lets others run once some milliseconds have gone by. */
export type Pace = () => Promise<void> | undefined;

/** At most so long at a time, so that a pass that runs meanwhile is not held up. */
const SLICE_MS = 4;

/** `nowMs` is real time, whatever clock the rest goes by. */
export function newPace(nowMs: () => number = () => performance.now()): Pace {
  let sinceMs = nowMs();
  const rest = async () => {
    await setImmediate();
    sinceMs = nowMs();
  };
  return () => (nowMs() - sinceMs < SLICE_MS ? undefined : rest());
}
