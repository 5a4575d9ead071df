/**
 * The same list from another one on. Round robin begins at the first real server, on each node anew; with a list that begins elsewhere on
 * each node, few connections from many nodes are shared out evenly. The same seed gives the same order.
 */
export function startAnywhere<T>(list: readonly T[], seed: string): readonly T[] {
  const first = list.length < 2 ? 0 : hash(seed) % list.length;
  return first === 0 ? list : [...list.slice(first), ...list.slice(0, first)];
}

/** FNV-1a with the last mixing of MurmurHash3, as names that differ in their last digit alone are common. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
