/** How the text of a flag is read. `version` is a boolean that may also be a word. */
export type FlagType = 'bool' | 'text' | 'int' | 'float' | 'duration' | 'list' | 'map' | 'version';

/**
 * - `process`: says what the process does; no part of the configuration.
 * - `override`: beats a file.
 * - `logging`: beats a file.
 * - `setting`: counts only when there is no file.
 */
export type FlagKind = 'process' | 'override' | 'logging' | 'setting';

/** One flag of the command line, as the parser, the help text and the configuration need it. */
export interface Flag {
  /** Without dashes in front. */
  readonly name: string;
  /** A one-letter form. */
  readonly alias?: string;
  readonly type: FlagType;
  readonly kind: FlagKind;
  /** The field of the file that carries the same setting; of the second document for `behaviour`. */
  readonly field?: string;
  /** As the help text shows it; nothing depends on it. */
  readonly default: string;
  readonly description: string;
  /** Accepted for old command lines; says what to use instead, or that it has no effect. */
  readonly deprecated?: string;
}
