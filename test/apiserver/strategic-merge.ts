import { isRecord, type JsonRecord, listOf, recordOf } from './api-object.ts';

/** Lists that are merged element by element: path of the list → fields that tell elements apart; `[]` for lists of plain values. */
export type MergeKeys = Readonly<Record<string, readonly string[]>>;

const metadataKeys: MergeKeys = {
  'metadata.finalizers': [],
  'metadata.ownerReferences': ['uid'],
  'status.conditions': ['type'],
};

/** What a strategic merge patch of each kind merges. Source: patchMergeKey tags in k8s.io/api. */
export function strategicMergeKeys(kind: string): MergeKeys {
  if (kind === 'Service') return { ...metadataKeys, 'spec.ports': ['port'] };
  if (kind === 'Node')
    return { ...metadataKeys, 'status.addresses': ['type'], 'spec.taints': ['key'], 'spec.podCIDRs': [] };
  return metadataKeys;
}

/** What server-side apply of each kind merges. Source: listMapKey markers in k8s.io/api. */
export function applyMergeKeys(kind: string): MergeKeys {
  return kind === 'Service' ? { ...metadataKeys, 'spec.ports': ['port', 'protocol'] } : strategicMergeKeys(kind);
}

/** Applies a strategic merge patch with its directives `$patch`, `$setElementOrder`, `$deleteFromPrimitiveList` and `$retainKeys`. */
export function strategicMerge(target: unknown, patch: unknown, keys: MergeKeys, path = ''): unknown {
  if (Array.isArray(patch)) return mergeList(listOf(target), patch, keys, path);
  if (!isRecord(patch)) return patch;
  const fields = Object.entries(patch).filter(([field]) => !field.startsWith('$'));
  const merged = patch.$patch === 'replace' ? {} : retained(recordOf(target), patch.$retainKeys);
  for (const [field, value] of fields) {
    if (value === null) delete merged[field];
    else merged[field] = strategicMerge(merged[field], value, keys, path === '' ? field : `${path}.${field}`);
  }
  applyListDirectives(merged, patch, keys, path);
  return merged;
}

function retained(target: JsonRecord, retainKeys: unknown): Record<string, unknown> {
  if (!Array.isArray(retainKeys)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([field]) => retainKeys.includes(field)));
}

function mergeList(target: readonly unknown[], patch: readonly unknown[], keys: MergeKeys, path: string): unknown {
  const elementKeys = keys[path];
  if (elementKeys === undefined || patch.some((element) => recordOf(element).$patch === 'replace'))
    return patch.filter(isElement);
  const merged = [...target];
  for (const element of patch) {
    const at = merged.findIndex((other) => elementKey(other, elementKeys) === elementKey(element, elementKeys));
    if (recordOf(element).$patch === 'delete') merged.splice(at, at < 0 ? 0 : 1);
    else if (at < 0) merged.push(element);
    else merged[at] = strategicMerge(merged[at], element, keys, `${path}[]`);
  }
  return merged;
}

function isElement(element: unknown): boolean {
  return recordOf(element).$patch === undefined;
}

function applyListDirectives(merged: Record<string, unknown>, patch: JsonRecord, keys: MergeKeys, path: string): void {
  for (const [directive, value] of Object.entries(patch)) {
    const [name, field] = directive.split('/');
    if (field === undefined || !Array.isArray(merged[field])) continue;
    const list = listOf(merged[field]);
    const elementKeys = keys[path === '' ? field : `${path}.${field}`] ?? [];
    const named = listOf(value).map((element) => elementKey(element, elementKeys));
    if (name === '$deleteFromPrimitiveList')
      merged[field] = list.filter((element) => !named.includes(elementKey(element, [])));
    if (name === '$setElementOrder') merged[field] = inNamedOrder(list, named, elementKeys);
  }
}

/** Elements that are not named keep their place behind those that are. */
function inNamedOrder(list: readonly unknown[], named: readonly string[], keys: readonly string[]): readonly unknown[] {
  const rank = (element: unknown) => {
    const at = named.indexOf(elementKey(element, keys));
    return at < 0 ? named.length : at;
  };
  return list.toSorted((a, b) => rank(a) - rank(b));
}

function elementKey(element: unknown, keys: readonly string[]): string {
  if (keys.length === 0) return JSON.stringify(element);
  return keys.map((key) => String(recordOf(element)[key] ?? (key === 'protocol' ? 'TCP' : ''))).join('/');
}
