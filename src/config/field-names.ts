import { z } from 'zod';
import type { FieldPath } from './raw-config.ts';
import { suggest } from './suggest.ts';

/** Every field of a schema as a dotted path, without the sections themselves, in the order of the schema. */
export function fieldNames(schema: z.ZodType, prefix = ''): readonly string[] {
  return Object.entries(shapeOf(schema)).flatMap(([key, inner]) => {
    const isSection = Object.keys(shapeOf(inner)).length > 0;
    return isSection ? fieldNames(inner, `${prefix}${key}.`) : [`${prefix}${key}`];
  });
}

/**
 * The error for a key that the schema does not have at `section`: with the known key that was probably meant, be it
 * misspelt or put in the wrong section, else with all keys that the section has.
 */
export function unknownField(schema: z.ZodType, section: FieldPath, key: string): string {
  const shape = shapeOf(section.reduce<z.ZodType | undefined>(innerSchema, schema));
  const elsewhere = fieldNames(schema).find((name) => `.${name}`.toLowerCase().endsWith(`.${key.toLowerCase()}`));
  const meant = suggest(key, Object.keys(shape)) ?? elsewhere;
  if (meant !== undefined) return `unknown field; got "${key}"; did you mean "${meant}"?`;
  return `unknown field; got "${key}"; known here: ${Object.keys(shape).join(', ')}`;
}

type Shape = Readonly<Record<string, z.ZodType>>;

/** The fields of a section; none of any other schema. */
function shapeOf(schema: z.ZodType | undefined): Shape {
  const bare = withoutDefault(schema);
  return bare instanceof z.ZodObject ? (bare.shape as Shape) : {};
}

function innerSchema(schema: z.ZodType | undefined, key: PropertyKey): z.ZodType | undefined {
  const bare = withoutDefault(schema);
  return bare instanceof z.ZodArray ? (bare.element as z.ZodType) : shapeOf(bare)[String(key)];
}

function withoutDefault(schema: z.ZodType | undefined): z.ZodType | undefined {
  const hasDefault = schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault;
  return hasDefault ? (schema.unwrap() as z.ZodType) : schema;
}
