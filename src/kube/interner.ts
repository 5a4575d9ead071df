/** Gives one and the same string for equal ones. */
export type Intern = <T extends string>(text: T) => T;

/**
 * Keeps one copy of each text, up to `limit` of them; beyond that it begins anew, and equal texts from before and after are two copies.
 */
export function createInterner(limit = 100_000): Intern {
  const known = new Map<string, string>();
  return <T extends string>(text: T): T => {
    const first = known.get(text);
    if (first !== undefined) return first as T;
    if (known.size >= limit) known.clear();
    known.set(text, text);
    return text;
  };
}

/** For objects that are not kept for long. */
export const asTheyCome: Intern = (text) => text;
