import { readFileSync } from 'node:fs';

/** One package of npm as the lock file has it. */
export interface LockedPackage {
  /** Where it is installed, below the folder of the lock file: `node_modules/a/node_modules/b`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** Subresource integrity, `sha512-` and base64. */
  readonly integrity?: string;
  /** SPDX expression; absent where its author gave none. */
  readonly license?: string;
  /** Whether an installation may lack it. */
  readonly optional: boolean;
}

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
}

/** What the program needs when it runs, sorted by path. Packages that hold types only are left out. Throws for a file that is no lock file. */
export function readLockedPackages(lockFile: string): readonly LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Readonly<Record<string, LockEntry>> };
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, { version = '', integrity, license, optional = false }]) => ({
      path,
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      optional,
      ...(integrity === undefined ? {} : { integrity }),
      ...(license === undefined ? {} : { license }),
    }))
    .filter(({ name }) => !name.startsWith('@types/'))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** The runtime that tests run on and the image holds: version of the package `node`. */
export function readRuntimeVersion(lockFile: string): string {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Readonly<Record<string, LockEntry>> };
  const version = packages['node_modules/node']?.version;
  if (version === undefined) throw new Error(`${lockFile} has no package "node"`);
  return version;
}
