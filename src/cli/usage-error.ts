export class UsageError extends Error {}

/** An option that was given not at all, once or several times. */
export function texts(value: unknown): readonly string[] {
  return value === undefined ? [] : [value].flat().map(String);
}
