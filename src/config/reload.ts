import type { ConfigError } from './config-error.ts';
import { changedFields } from './effective-documents.ts';
import { describeChange, effectOf } from './field-effects.ts';
import type { GivenFlags } from './flag-values.ts';
import { type EffectiveConfig, loadEffective } from './load.ts';
import type { ConfigFile } from './read-documents.ts';

/** What a new text of the file comes to. `changes` are sentences such as `ipvs.scheduler "rr" → "wlc"`, never empty. */
export type Reload =
  | { readonly kind: 'invalid'; readonly errors: readonly ConfigError[] }
  /** Nothing that the program depends on has changed. */
  | { readonly kind: 'same' }
  /** All of it can be taken over while the program runs. */
  | { readonly kind: 'live'; readonly config: EffectiveConfig; readonly changes: readonly string[] }
  | { readonly kind: 'restart'; readonly changes: readonly string[] };

/** Compares a new text of the file, beneath the same flags, with the configuration in force. */
export function judgeReload(running: EffectiveConfig, file: ConfigFile, flags: GivenFlags): Reload {
  const loaded = loadEffective({ file, flags });
  if (!loaded.ok) return { kind: 'invalid', errors: loaded.error };
  const changes = changedFields(running.documents, loaded.value.documents).filter(
    ({ field }) => effectOf(field) !== 'none',
  );
  if (changes.length === 0) return { kind: 'same' };
  const needsRestart = changes.filter(({ field }) => effectOf(field) === 'restart');
  if (needsRestart.length > 0) return { kind: 'restart', changes: needsRestart.map(describeChange) };
  return { kind: 'live', config: loaded.value, changes: changes.map(describeChange) };
}
