import { fail, type Result, succeed } from '../model/result.ts';

/** What identifies one state of one object; read from the raw JSON, so that it is known of objects that cannot be decoded too. */
export interface RawObject {
  /** `namespace/name`, with an empty namespace for cluster-scoped objects. */
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly json: unknown;
}

/** One line of a watch. */
export type WatchEvent =
  | { readonly kind: 'present'; readonly object: RawObject }
  | { readonly kind: 'deleted'; readonly object: RawObject }
  | { readonly kind: 'bookmark'; readonly resourceVersion: string }
  /** `status`: a Status object. */
  | { readonly kind: 'error'; readonly status: unknown };

/** Reads a line of a watch; the error says why it is none. Source: k8s.io/apimachinery meta/v1 WatchEvent */
export function parseWatchEvent(line: string): Result<WatchEvent, string> {
  const event = parseJson(line);
  if (!isRecord(event)) return fail('a line of the watch is not a JSON object');
  const { type, object } = event;
  if (type === 'ERROR') return succeed({ kind: 'error', status: object });
  const raw = readRawObject(object);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return raw ? succeed({ kind: 'present', object: raw }) : fail(`a ${type} event has no complete metadata`);
    case 'DELETED':
      return raw ? succeed({ kind: 'deleted', object: raw }) : fail('a DELETED event has no complete metadata');
    case 'BOOKMARK': {
      const resourceVersion = text(metadataOf(object).resourceVersion);
      return resourceVersion ? succeed({ kind: 'bookmark', resourceVersion }) : fail('a bookmark has no version');
    }
    default:
      return fail(`a line of the watch has the unknown type ${JSON.stringify(type)}`);
  }
}

/** An item of a list or the object of an event; undefined when name or version are missing. */
export function readRawObject(json: unknown): RawObject | undefined {
  const { namespace, name, uid, resourceVersion } = metadataOf(json);
  if (!text(name) || !text(resourceVersion)) return undefined;
  return { key: `${text(namespace)}/${text(name)}`, uid: text(uid), resourceVersion: text(resourceVersion), json };
}

export function metadataOf(json: unknown): Readonly<Record<string, unknown>> {
  return isRecord(json) && isRecord(json.metadata) ? json.metadata : {};
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
