import { type ApiError, describeApiError } from '../../src/kube/client-errors.ts';
import type { ListWatchHandler } from '../../src/kube/list-watch.ts';
import type { Decoded, Problem } from '../../src/model/problem.ts';
import { recordOf, valueAt } from './api-object.ts';

/** An object cut down to what tests look at. */
export interface Thing {
  readonly name: string;
  readonly note: string;
}

/** Reads name and annotation `note`; an object whose note is `bad` cannot be read. */
export function decodeThing(json: unknown): Decoded<Thing> {
  const name = String(valueAt(json, ['metadata', 'name']));
  const note = String(recordOf(valueAt(json, ['metadata', 'annotations'])).note ?? '');
  if (note !== 'bad') return { value: { name, note }, problems: [] };
  return { problems: [{ object: `Thing ${name}`, field: 'metadata.annotations.note', message: 'it is bad' }] };
}

/** Writes down what a list-watch tells, one line each: `+ a`, `~ a: old → new`, `- a`, `listed`, `recovered`, `trouble …`, `problem …`. */
export class Recorder implements ListWatchHandler<Thing> {
  readonly lines: string[] = [];
  readonly things = new Map<string, Thing>();
  #waiters: { readonly reached: (recorder: Recorder) => boolean; readonly resolve: () => void }[] = [];

  changed(previous: Thing | undefined, current: Thing | undefined): void {
    if (previous) this.things.delete(previous.name);
    if (current) this.things.set(current.name, current);
    if (previous && current) this.#write(`~ ${current.name}: ${previous.note} → ${current.note}`);
    else if (current) this.#write(`+ ${current.name}`);
    else if (previous) this.#write(`- ${previous.name}`);
  }

  listed(): void {
    this.#write('listed');
  }

  problem({ object, message }: Problem): void {
    this.#write(`problem ${object}: ${message}`);
  }

  trouble(error: ApiError, retryInMs: number): void {
    this.#write(`trouble ${describeApiError(error)}, again in ${retryInMs} ms`);
  }

  recovered(): void {
    this.#write('recovered');
  }

  /** The lines since the last call. */
  take(): string[] {
    return this.lines.splice(0);
  }

  /** Resolves as soon as `reached` is true of what was told. */
  until(reached: (recorder: Recorder) => boolean): Promise<void> {
    return new Promise((resolve) => {
      if (reached(this)) resolve();
      else this.#waiters.push({ reached, resolve });
    });
  }

  #write(line: string): void {
    this.lines.push(line);
    const done = this.#waiters.filter(({ reached }) => reached(this));
    this.#waiters = this.#waiters.filter((waiter) => !done.includes(waiter));
    for (const { resolve } of done) resolve();
  }
}
