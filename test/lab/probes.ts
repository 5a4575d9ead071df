import { fileURLToPath } from 'node:url';
import type { Lab } from './lab.ts';

const PROBES = fileURLToPath(new URL('probes.py', import.meta.url));

/** What became of an echo request to each address: answered, unreachable or silent. */
export function ping(lab: Lab, namespace: string, addresses: readonly string[]): Promise<readonly string[]> {
  return probe(lab, namespace, 'echo', addresses);
}

/** The hardware addresses, sorted and joined by blanks, that say they have each IPv4 address. */
export function askWhoHas(lab: Lab, namespace: string, addresses: readonly string[]): Promise<readonly string[]> {
  return probe(lab, namespace, 'arp', addresses);
}

async function probe(lab: Lab, namespace: string, kind: string, addresses: readonly string[]) {
  const printed = await lab.output(namespace, '/usr/bin/python3', [PROBES, kind, ...addresses]);
  return printed.split('\n').slice(0, addresses.length);
}
