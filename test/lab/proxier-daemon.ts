import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Daemon } from './daemon.ts';
import type { Lab } from './lab.ts';

export const PROGRAM = join(import.meta.dirname, '../../src/main.ts');

/** Starts `ipvs-proxier run` on a node of the lab, as a DaemonSet would. Its log and files go into `folder`; `env` is added to its environment. */
export function startProxier(
  lab: Lab,
  node: string,
  kubeconfig: string,
  folder: string,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Daemon {
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, kubeconfig);
  const args = [PROGRAM, 'run', '--kubeconfig', file, '--hostname-override', node, ...LIMITS, ...FORMAT, ...flags];
  return lab.spawn(node, process.execPath, args, { logFile: join(folder, `${node}.log`), env });
}

/** The limit of connection tracking can be set in the first network namespace only. */
const LIMITS = ['--conntrack-max-per-core', '0'];

/** What a test prints of it is for people. */
const FORMAT = ['--logging-format', 'text'];
