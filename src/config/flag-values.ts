import type { Flag, FlagKind } from './flag.ts';
import { FLAGS } from './flags.ts';
import { type RawConfig, withField } from './raw-config.ts';

/** Flags that were given, by name; values as a command-line parser leaves them: text, or read already, or one a repetition. */
export type GivenFlags = Readonly<Record<string, unknown>>;

/** Flags of the kinds that were given, in the order of the table. Names that are not in the table are somebody else's. */
export function givenFlags(given: GivenFlags, kinds: readonly FlagKind[]): readonly Flag[] {
  return FLAGS.filter(({ name, kind }) => kinds.includes(kind) && given[name] !== undefined);
}

/** Puts the values of flags into the fields they stand for. A text that cannot be read stays text: the schema says so. */
export function withFlags(raw: RawConfig, flags: readonly Flag[], given: GivenFlags): RawConfig {
  return flags.reduce((config, flag) => {
    if (flag.field === undefined) return config;
    return withField(config, flag.field.split('.'), readFlag(flag, given[flag.name]));
  }, raw);
}

/** The value of one flag. Of a repeated one the last counts; lists and maps are joined. */
export function readFlag({ type }: Pick<Flag, 'type'>, value: unknown): unknown {
  const values = Array.isArray(value) ? value : [value];
  const last = values.at(-1);
  switch (type) {
    case 'list':
      return values.flatMap((entry) => (typeof entry === 'string' ? splitList(entry) : [entry]));
    case 'map':
      return Object.assign({}, ...values.map((entry) => (typeof entry === 'string' ? readMap(entry) : entry)));
    case 'bool':
      return readBool(last);
    case 'int':
      return typeof last === 'string' && /^[-+]?\d+$/.test(last) ? Number(last) : last;
    case 'float':
      return typeof last === 'string' && last.trim() !== '' && !Number.isNaN(Number(last)) ? Number(last) : last;
    default:
      return last;
  }
}

/** The flag that gave a field its value, or the section or list around it. */
export function flagOfField(field: string, flags: readonly Flag[]): Flag | undefined {
  return flags.find(
    (flag) =>
      flag.field !== undefined &&
      (field === flag.field || (/^[.[]/.test(field.slice(flag.field.length)) && field.startsWith(flag.field))),
  );
}

function splitList(text: string): string[] {
  return text === '' ? [] : text.split(',').map((entry) => entry.trim());
}

function readMap(text: string): Record<string, unknown> {
  const entries = splitList(text).filter((entry) => entry !== '');
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', ...value] = entry.split('=');
      return [name.trim(), readBool(value.join('=').trim())];
    }),
  );
}

/** Source: Go strconv.ParseBool */
function readBool(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (/^(?:1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(?:0|f|F|false|FALSE|False)$/.test(value) ? false : value;
}
