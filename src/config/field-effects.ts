import type { FieldChange } from './effective-documents.ts';
import { OTHER_MODES } from './notices.ts';

/**
 * What a change of a field in the file comes to while the program runs: `live` is taken over at once, `restart` ends the program so that
 * it starts with the new value, `none` changes nothing.
 */
export type FieldEffect = 'live' | 'restart' | 'none';

export function effectOf(field: string): FieldEffect {
  if (LIVE.includes(field)) return 'live';
  return NO_EFFECT.some((name) => field === name || field.startsWith(`${name}.`)) ? 'none' : 'restart';
}

/** `ipvs.scheduler "rr" → "wlc"`. */
export function describeChange({ field, from, to }: FieldChange): string {
  return `${field} ${JSON.stringify(from) ?? 'not set'} → ${JSON.stringify(to) ?? 'not set'}`;
}

const LIVE: readonly string[] = ['logging.verbosity'];

/** Fields that are accepted and do nothing here, whatever they say; a section stands for all of its fields. */
export const NO_EFFECT: readonly string[] = [
  'apiVersion',
  'kind',
  'mode',
  'featureGates',
  'logging.flushFrequency',
  'logging.vmodule',
  'logging.options',
  'showHiddenMetricsForVersion',
  ...OTHER_MODES,
  'portRange',
];
