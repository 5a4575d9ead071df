import { z } from 'zod';
import { type Cidr, parseCidr } from '../net/cidr.ts';
import { type IpAddress, parseIpAddress } from '../net/ip-address.ts';
import { type PartialBindAddress, parseBindAddress } from './bind-address.ts';
import { parseDuration } from './duration.ts';
import { isMapping } from './raw-config.ts';

const INT32_MAX = 2 ** 31 - 1;

/** A mapping with exactly these fields; an absent one is read as empty, so that the defaults inside apply. */
export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .strictObject(shape, { error: (issue) => mustBe('a mapping of fields', issue.input) })
    .prefault(() => ({}) as never);
}

export function list<T extends z.ZodType>(item: T) {
  return z.array(item, { error: (issue) => mustBe('a list', issue.input) });
}

/** Names of the user's own choice, each with a value of one type. */
export function map<T extends z.ZodType>(value: T) {
  return z.record(z.string(), value, { error: (issue) => mustBe('a mapping of names to values', issue.input) });
}

export function text() {
  return field('text', (value) => (typeof value === 'string' ? value : undefined));
}

export function bool() {
  return field('true or false', (value) => (typeof value === 'boolean' ? value : undefined));
}

export function float() {
  return field('a number', (value) => (Number.isFinite(value) ? Number(value) : undefined));
}

/** A part of a whole. */
export function ratio() {
  return field('a number from 0 to 1', (value) =>
    typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined,
  );
}

/** A whole number in a range that includes both ends. */
export function integer(min = -INT32_MAX - 1, max = INT32_MAX) {
  return field(`a whole number from ${min} to ${max}`, (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
  );
}

/** A Go duration, as milliseconds. */
export function duration(range: 'any' | 'not negative' | 'positive' = 'any') {
  const allowed = { any: '', 'not negative': ' of 0 or more', positive: ' greater than 0' }[range];
  return field(`a duration${allowed} with its unit, such as "30s" or "1h30m"`, (value) => {
    const durationMs = value === 0 ? 0 : typeof value === 'string' ? parseDuration(value) : undefined;
    if (durationMs === undefined || range === 'any') return durationMs;
    return durationMs > 0 || (durationMs === 0 && range === 'not negative') ? durationMs : undefined;
  });
}

export function oneOf<const T extends string>(allowed: readonly T[]) {
  return field(`one of ${allowed.map((word) => JSON.stringify(word)).join(', ')}`, (value) =>
    allowed.find((word) => word === value),
  );
}

/** Text that matches `pattern`, or none at all. */
export function textLike(allowed: string, pattern: RegExp) {
  return field(`${allowed}, or empty`, (value) =>
    typeof value === 'string' && (value === '' || pattern.test(value)) ? value : undefined,
  );
}

export function ipAddress() {
  return field<IpAddress>('an IPv4 or IPv6 address', (value) =>
    typeof value === 'string' ? parseIpAddress(value) : undefined,
  );
}

export function cidr() {
  return field<Cidr>('a CIDR such as 10.0.0.0/8 or fd00::/64', (value) =>
    typeof value === 'string' ? parseCidr(value) : undefined,
  );
}

/** `IP` or `IP:PORT`; empty means that the server is switched off. */
export function bindAddress() {
  return field<PartialBindAddress | 'off'>(
    'IP or IP:PORT with a port from 1 to 65535, IPv6 in brackets before a port',
    (value) => {
      if (value === '') return 'off';
      return typeof value === 'string' ? parseBindAddress(value) : undefined;
    },
  );
}

/** A field whose value `parse` understands; all else is an error that says what is `allowed`. */
export function field<T>(allowed: string, parse: (value: unknown) => T | undefined) {
  return z.unknown().transform((value, context): T => {
    const parsed = parse(value);
    if (parsed !== undefined) return parsed;
    context.issues.push({ code: 'custom', message: mustBe(allowed, value), input: value });
    return z.NEVER;
  });
}

function mustBe(allowed: string, given: unknown): string {
  return `must be ${allowed}; got ${show(given)}`;
}

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return String(value);
  return isMapping(value) ? 'a mapping' : JSON.stringify(value);
}
