import { type ServiceName, serviceName } from '../model/names.ts';
import type { Problem } from '../model/problem.ts';

/** Any JSON object, before anything of it is believed. */
export type Json = Readonly<Record<string, unknown>>;

/** Collects what is wrong with one object while it is read field by field. */
export interface Reader {
  readonly object: string;
  readonly service: ServiceName | undefined;
  readonly problems: Problem[];
}

/** Names the object as people do, `Service shop/cart`, as far as it can be named. */
export function readerFor(json: unknown, kind: string): Reader {
  const metadata = record(record(json).metadata);
  const [namespace, name] = [text(metadata.namespace), text(metadata.name)];
  const label = [namespace, name].filter((part) => part !== undefined).join('/');
  const object = label === '' ? `${kind} without a name` : `${kind} ${label}`;
  const isNamedService = kind === 'Service' && namespace !== undefined && name !== undefined;
  return { object, service: isNamedService ? serviceName(namespace, name) : undefined, problems: [] };
}

export function complain({ object, service, problems }: Reader, field: string, message: string): undefined {
  problems.push({ object, ...(service === undefined ? {} : { service }), field, message });
  return undefined;
}

/** The value as an object; an empty one when it is none. */
export function record(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** The value as a list; an empty one when it is absent, and with a complaint when it is something else. */
export function list(reader: Reader, field: string, value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  complain(reader, field, `has to be a list, not ${show(value)}; it is passed over`);
  return [];
}

/**
 * The list, which nobody can change any more, in no more memory than it needs: what `flatMap` gives has room for 17. Empty ones are all the
 * same. Records are frozen where they are made, part by part: that is 2 to
 * 5 % of what reading an object from its JSON takes, where a walk through the finished record would double the decoding.
 */
export function frozen<T>(items: readonly T[]): readonly T[] {
  return items.length === 0 ? (NOTHING as readonly never[]) : Object.freeze(items.slice());
}

const NOTHING = Object.freeze([]);

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value as a person would write it, shortened. */
export function show(value: unknown): string {
  const written = JSON.stringify(value) ?? String(value);
  return written.length > 60 ? `${written.slice(0, 57)}...` : written;
}

/** One of the spellings given, the first one when absent; `undefined` with a complaint for anything else. */
export function oneOf<const T extends string>(
  reader: Reader,
  field: string,
  value: unknown,
  spellings: readonly [T, ...T[]],
  consequence: string,
): T | undefined {
  if (value === undefined || value === null || value === '') return spellings[0];
  const found = spellings.find((spelling) => spelling === value);
  return found ?? complain(reader, field, `${show(value)} is none of ${spellings.join(', ')}; ${consequence}`);
}
