import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../test/conformance/cluster.ts';

/** What a node tells about itself, by file name. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  ipvsadm: ['ipvsadm', '-Sn'],
  connections: ['ipvsadm', '-Lnc'],
  sets: ['ipset', 'save'],
  iptables: ['iptables-save', '-c'],
  ip6tables: ['ip6tables-save', '-c'],
  addresses: ['ip', '-o', 'address'],
  conntrack: ['sh', '-c', 'conntrack -L -o extended; conntrack -L -f ipv6 -o extended'],
};

/** Keeps why a scenario failed, and each node's kernel and the API's objects at that time, in a folder of its own. */
export async function keepEvidence(cluster: Cluster, namespace: string, name: string, failure: string): Promise<void> {
  const folder = join(cluster.folder, slugOf(name));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'failure.txt'), `${name}\n${failure}\n`);
  for (const { name: node } of cluster.lab.nodes) {
    for (const [file, [command = '', ...args]] of Object.entries(TOLD)) {
      const { stdout, stderr } = await cluster.lab.run(node, command, args);
      writeFileSync(join(folder, `${node}-${file}.txt`), stdout + stderr);
    }
    writeFileSync(join(folder, `${node}.log`), await cluster.readLog(node));
  }
  for (const path of ['/api/v1', '/apis/discovery.k8s.io/v1']) {
    const plural = path === '/api/v1' ? 'services' : 'endpointslices';
    const list = await cluster.api
      .find(`${path}/namespaces/${namespace}/${plural}`)
      .catch((error) => ({ error: String(error) }));
    writeFileSync(join(folder, `${plural}.json`), JSON.stringify(list, undefined, 2));
  }
}

export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 80);
}
