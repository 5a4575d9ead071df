/** True when two plain values (records, lists, maps, sets of scalars, scalars) hold the same content. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Map && b instanceof Map) return sameMaps(a, b);
  if (a instanceof Set && b instanceof Set) return a.size === b.size && a.isSubsetOf(b);
  if (KINDS.some((isOfKind) => isOfKind(a) !== isOfKind(b))) return false;
  const [keysA, keysB] = [Object.keys(a), Object.keys(b)];
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return keysA.length === keysB.length && keysA.every((key) => Object.hasOwn(b, key) && same(left[key], right[key]));
}

const KINDS: readonly ((value: unknown) => boolean)[] = [
  Array.isArray,
  (value) => value instanceof Map,
  (value) => value instanceof Set,
];

function sameMaps(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.has(key) && same(value, b.get(key)));
}
