import type { Clock } from '../queue/clock.ts';

/** Waits for the first complete list of several resources. */
export interface FirstLists {
  /** A resource has been listed; each says so once. */
  readonly listed: (resource: string) => void;
  /** Nothing is told any more. */
  readonly stop: () => void;
}

export interface FirstListsOptions {
  readonly clock: Clock;
  /** Waited for without an end. */
  readonly needed: readonly string[];
  /** Waited for too, but not longer than `patienceMs` once all that are needed are there. */
  readonly wished: readonly string[];
  readonly patienceMs: number;
  /** Called once; `late`: those wished for that have not come. */
  readonly done: (late: readonly string[]) => void;
}

export function awaitFirstLists({ clock, needed, wished, patienceMs, done }: FirstListsOptions): FirstLists {
  const missing = new Set([...needed, ...wished]);
  let cancel: (() => void) | undefined;
  let told = false;
  const tell = () => {
    told = true;
    cancel?.();
    done([...missing]);
  };
  return {
    listed: (resource) => {
      missing.delete(resource);
      if (told || needed.some((each) => missing.has(each))) return;
      if (missing.size === 0) tell();
      else cancel ??= clock.after(patienceMs, tell);
    },
    stop: () => {
      told = true;
      cancel?.();
    },
  };
}
