import type { z } from 'zod';
import { unknownField } from './field-names.ts';
import { type FieldPath, formatPath, type RawConfig, withoutField } from './raw-config.ts';

/** A field and what is wrong with it. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
  /** Other fields that make it wrong. */
  readonly because?: readonly string[];
}

/** What could be read, with the default in place of every wrong field, so that the rest can be checked further. */
export interface ParsedFields<T> {
  readonly value: T;
  readonly problems: readonly FieldProblem[];
}

export function parseFields<Schema extends z.ZodType>(schema: Schema, raw: RawConfig): ParsedFields<z.output<Schema>> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { value: parsed.data, problems: [] };
  const wrong = parsed.error.issues.flatMap((issue) => wrongFields(schema, issue));
  const rest = wrong.reduce((kept, { path }) => withoutField(kept, path), raw);
  const problems = wrong.map(({ path, message }) => ({ field: formatPath(path), message }));
  return { value: schema.parse(rest), problems };
}

function wrongFields(schema: z.ZodType, issue: z.core.$ZodIssue): { path: FieldPath; message: string }[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: issue.message }];
  return issue.keys.map((key) => ({ path: [...issue.path, key], message: unknownField(schema, issue.path, key) }));
}
