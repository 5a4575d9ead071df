/** True when two plain values (records, lists, maps, sets of scalars, scalars) hold the same content. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Map && b instanceof Map) return sameMaps(a, b);
  if (a instanceof Set && b instanceof Set) return a.size === b.size && a.isSubsetOf(b);
  if (Array.isArray(a) && Array.isArray(b)) return sameLists(a, b);
  return !isCollection(a) && !isCollection(b) && sameRecords(a, b);
}

function isCollection(value: object): boolean {
  return Array.isArray(value) || value instanceof Map || value instanceof Set;
}

function sameLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (!same(a[index], b[index])) return false;
  return true;
}

/** Without lists of keys: records are compared with every event. */
function sameRecords(a: object, b: object): boolean {
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  let surplus = 0;
  for (const key in left) {
    const other = right[key];
    if (!same(left[key], other) || (other === undefined && !Object.hasOwn(right, key))) return false;
    surplus -= 1;
  }
  for (const _ in right) surplus += 1;
  return surplus === 0;
}

function sameMaps(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.has(key) && same(value, b.get(key)));
}
