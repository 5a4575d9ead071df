import { isRecord, type JsonRecord, recordOf } from './api-object.ts';

/** Applies a JSON merge patch: null removes, objects merge, everything else (lists too) replaces. Source: RFC 7386. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = { ...recordOf(target) };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = mergePatch(merged[field], value);
  }
  return merged satisfies JsonRecord;
}
