/** Configuration as YAML or flags give it: nothing checked, nothing defaulted. */
export type RawConfig = Readonly<Record<string, unknown>>;

export type FieldPath = readonly PropertyKey[];

/** A copy without `null` values at any depth of mappings: in Go's decoding `null` means that the field was not given. */
export function withoutNulls(raw: RawConfig): RawConfig {
  const kept = Object.entries(raw).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, isMapping(value) ? withoutNulls(value) : value]));
}

export function getField(raw: RawConfig, path: FieldPath): unknown {
  return path.reduce<unknown>((value, key) => (isMapping(value) ? value[String(key)] : undefined), raw);
}

/** A copy with the field set; mappings on the way are made, and replace what is no mapping. */
export function withField(raw: RawConfig, path: FieldPath, value: unknown): RawConfig {
  const [key, ...rest] = path;
  if (key === undefined) return raw;
  const name = String(key);
  const inner = raw[name];
  return { ...raw, [name]: rest.length === 0 ? value : withField(isMapping(inner) ? inner : {}, rest, value) };
}

/** A copy without the field; a path that leads into a list removes the whole list. */
export function withoutField(raw: RawConfig, path: FieldPath): RawConfig {
  const [key, ...rest] = path;
  const name = String(key);
  const inner = raw[name];
  if (rest.length > 0 && isMapping(inner)) return { ...raw, [name]: withoutField(inner, rest) };
  return Object.fromEntries(Object.entries(raw).filter(([other]) => other !== name));
}

export function isMapping(value: unknown): value is RawConfig {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `ipvs.excludeCIDRs[1]`. */
export function formatPath(path: FieldPath): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}
