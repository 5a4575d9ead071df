import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface WaitLimits {
  /** Default 30 000: the lab is about ten times slower than a real machine. */
  readonly timeoutMs?: number;
  /** Pause between two looks; default 100. */
  readonly everyMs?: number;
}

/**
 * Reads until `isDone` accepts the value, and returns it. Past the limit it throws, naming what was waited for and the last
 * value seen. A reader that throws has not seen it yet.
 */
export async function waitFor<T>(
  what: string,
  read: () => Promise<T> | T,
  isDone: (value: T) => boolean,
  { timeoutMs = 30_000, everyMs = 100 }: WaitLimits = {},
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look(read);
    if ('value' in seen && isDone(seen.value)) return seen.value;
    if (performance.now() >= end) throw new Error(`${what}: not within ${timeoutMs} ms, last seen: ${show(seen)}`);
    await sleep(everyMs);
  }
}

type Seen<T> = { readonly value: T } | { readonly error: unknown };

async function look<T>(read: () => Promise<T> | T): Promise<Seen<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    return { error };
  }
}

function show<T>(seen: Seen<T>): string {
  return inspect('value' in seen ? seen.value : seen.error, { depth: 6, maxArrayLength: 50, breakLength: 120 });
}
