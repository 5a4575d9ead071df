import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../test/conformance/cluster.ts';

/** What a node tells about itself; lists that grow with traffic are cut. */
const COMMANDS = [
  'ipvsadm -Sn',
  'ipvsadm -Lnc | head -n 500',
  'ipset save',
  'iptables-save -c',
  'ip6tables-save -c',
  'ip -o address',
  'conntrack -L -o extended | head -n 500',
  'conntrack -L -f ipv6 -o extended | head -n 500',
];
const SCRIPT = COMMANDS.map((command) => `echo; echo '== ${command}'; ${command}`).join('\n');

/**
 * Keeps why a scenario failed, and each node's kernel and log and the API's objects at that time, in a folder of its own. One
 * shell a node: the scenarios that still run need the machine.
 */
export async function keepEvidence(cluster: Cluster, namespace: string, name: string, failure: string): Promise<void> {
  const folder = join(cluster.folder, slugOf(name));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'failure.txt'), `${name}\nnamespace ${namespace}\n${failure}\n`);
  await Promise.all(
    cluster.lab.nodes.map(async ({ name: node }) => {
      const { stdout, stderr } = await cluster.lab.run(node, 'sh', ['-c', SCRIPT]);
      writeFileSync(join(folder, `${node}.txt`), stdout + stderr);
      writeFileSync(join(folder, `${node}.log`), await cluster.readLog(node));
    }),
  );
  for (const path of ['/api/v1', '/apis/discovery.k8s.io/v1']) {
    const plural = path === '/api/v1' ? 'services' : 'endpointslices';
    const list = cluster.api.find(`${path}/namespaces/${namespace}/${plural}`);
    const told = await list.catch((error) => ({ error: String(error) }));
    writeFileSync(join(folder, `${plural}.json`), JSON.stringify(told, undefined, 2));
  }
}

export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 80);
}
