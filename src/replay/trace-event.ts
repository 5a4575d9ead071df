import { type Json, record, show, text } from '../kube/fields.ts';
import { fail, type Result, succeed } from '../model/result.ts';

export const EVENT_TYPES = ['ADDED', 'MODIFIED', 'DELETED'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Kinds of objects in a trace, with the `apiVersion` of each. */
export const TRACED_KINDS = { Service: 'v1', EndpointSlice: 'discovery.k8s.io/v1', Node: 'v1' } as const;
export type TracedKind = keyof typeof TRACED_KINDS;

/** One line of a trace. */
export interface TraceEvent {
  /** Since the start of the recording; what was there at the start has 0. Exact to a millisecond at least. */
  readonly atMs: number;
  readonly type: EventType;
  readonly kind: TracedKind;
  /** The object as the API gives it; of one that is deleted the names in its metadata suffice. */
  readonly object: Json;
}

/** Reads a line of a trace; the error says what is wrong with it. */
export function parseTraceEvent(line: string): Result<TraceEvent, string> {
  const json = parseJson(line);
  if (!json.ok) return json;
  const { atMs, type } = json.value;
  if (typeof atMs !== 'number' || !(atMs >= 0 && atMs <= Number.MAX_SAFE_INTEGER))
    return fail(
      `atMs is ${typeof atMs === 'number' ? atMs : show(atMs)}, a number of milliseconds from 0 to ${Number.MAX_SAFE_INTEGER} is needed`,
    );
  const knownType = EVENT_TYPES.find((known) => known === type);
  if (!knownType) return fail(`type is ${show(type)}, none of ${EVENT_TYPES.join(', ')}`);
  const object = record(json.value.object);
  const kind = Object.keys(TRACED_KINDS).find((known): known is TracedKind => known === object.kind);
  if (!kind) return fail(`object.kind is ${show(object.kind)}, none of ${Object.keys(TRACED_KINDS).join(', ')}`);
  if (object.apiVersion !== TRACED_KINDS[kind])
    return fail(`object.apiVersion is ${show(object.apiVersion)}, a ${kind} of ${TRACED_KINDS[kind]} is needed`);
  const { name, resourceVersion } = record(object.metadata);
  if (!text(name)) return fail('object.metadata.name is missing');
  if (!text(resourceVersion)) return fail('object.metadata.resourceVersion is missing');
  return succeed({ atMs, type: knownType, kind, object });
}

/** A line of a trace, without its end. */
export function formatTraceEvent({ atMs, type, object }: Omit<TraceEvent, 'kind'>): string {
  return JSON.stringify({ atMs, type, object });
}

function parseJson(line: string): Result<Json, string> {
  try {
    const value: unknown = JSON.parse(line);
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isRecord ? succeed(value as Json) : fail('it is not a JSON object');
  } catch (error) {
    return fail(`it is not JSON: ${(error as Error).message}`);
  }
}
