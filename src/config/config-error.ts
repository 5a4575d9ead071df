/** One thing wrong with the configuration; all of them are found before any is reported. */
export interface ConfigError {
  /** The name of the file, or the flag with its dashes. */
  readonly where: string;
  /** `ipvs.syncPeriod`, `nodePortAddresses[1]`; empty when it is about the document as a whole. */
  readonly field: string;
  /** What is wrong, what was given, what is allowed. */
  readonly message: string;
}

/** `config.yaml: ipvs.syncPeriod: must be …` */
export function formatConfigError({ where, field, message }: ConfigError): string {
  return [where, field, message].filter((part) => part !== '').join(': ');
}
