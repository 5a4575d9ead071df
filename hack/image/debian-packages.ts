/** One installed package of Debian. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** The source package it was built from; security notices name this one. */
  readonly source: string;
}

/** Reads dpkg's status file: the packages that are installed, in its order. What was removed and left its settings does not count. */
export function readDebianPackages(status: string): readonly DebianPackage[] {
  return status
    .split(/\n\n+/)
    .map((paragraph) => (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '')
    .filter((field) => field('Status').endsWith(' installed'))
    .map((field) => ({
      name: field('Package'),
      version: field('Version'),
      architecture: field('Architecture'),
      source: field('Source').replace(/ \(.*\)$/, '') || field('Package'),
    }));
}
