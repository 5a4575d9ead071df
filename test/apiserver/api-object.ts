/** A JSON object whose fields have not been looked at. */
export type JsonRecord = { readonly [field: string]: unknown };

/** The part of metadata that the server itself reads or sets; everything else is carried along. */
interface Metadata extends JsonRecord {
  readonly name: string;
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** An API object. Stored objects are never changed, only replaced. */
export interface ApiObject extends JsonRecord {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value itself when it is a JSON object, else an empty one. */
export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value at `path`, e.g. `['spec', 'clusterIP']`; undefined when any step is missing. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, field) => recordOf(at)[field], value);
}

/** Order of lists and of paging: by namespace, then by name. Also the key an object is stored under. */
export function objectKey(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

export function keyOfObject({ metadata }: ApiObject): string {
  return objectKey(metadata.namespace, metadata.name);
}

/** `fields` without those that are undefined, so that an absent value leaves no trace in JSON or in comparisons. */
export function withoutUndefined(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
