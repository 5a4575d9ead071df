import type { ServiceName } from './names.ts';

/** One thing that is wrong with an object that was given to us, and that is left out because of it. */
export interface Problem {
  /** Which object: `Service shop/cart`, or the file when no object could be read. */
  readonly object: string;
  /** The Service, where it is about one that has a name. */
  readonly service?: ServiceName;
  /** Path of the field, e.g. `spec.ports[0].port`; `''` when the whole object is meant. */
  readonly field: string;
  /** What is wrong and what happens because of it. */
  readonly message: string;
}

/** What came of reading an object: its usable part, if there is one, and what is wrong with the rest. */
export interface Decoded<T> {
  readonly value?: T;
  readonly problems: readonly Problem[];
}

export function describeProblem({ object, field, message }: Problem): string {
  return field === '' ? `${object}: ${message}` : `${object}: ${field}: ${message}`;
}
