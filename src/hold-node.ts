import { describeLockError, type LockError, type lockNode, type NodeLock } from './apply/node-lock.ts';
import { fail, type Result, succeed } from './model/result.ts';
import { systemClock } from './queue/clock.ts';

export interface HoldParts {
  readonly lock: typeof lockNode;
  readonly command: 'run' | 'cleanup';
  readonly version: string;
  /** How long another one may take to end. */
  readonly patienceMs: number;
  /** Ends the waiting when it resolves. */
  readonly stop: Promise<unknown>;
  /** Told once, when it comes to waiting. */
  readonly waiting: (why: string) => void;
}

/** What came of the work; or why it was not begun, `stopped` if `stop` came first. */
export type Held<T> = Result<T, LockError | { readonly kind: 'stopped' }>;

/** Does the work while no other process programs this node. */
export async function holdNode<T>(parts: HoldParts, work: () => Promise<T>): Promise<Held<T>> {
  const { lock, command, version, patienceMs, stop, waiting } = parts;
  const stopping = new AbortController();
  void stop.then(() => stopping.abort());
  const { signal } = stopping;
  const tell = (error: LockError) => waiting(describeLockError(error));
  const locked = await lock({ command, version }, { clock: systemClock, patienceMs, signal, waiting: tell });
  if (!locked.ok) return fail(signal.aborted ? { kind: 'stopped' } : locked.error);
  return succeed(await workAndRelease(locked.value, work));
}

async function workAndRelease<T>(held: NodeLock, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await held.release();
  }
}
