import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Host, systemHost } from '../../src/apply/host.ts';
import { ObservedNode } from '../http/observed-node.ts';
import { endpointJson, nodeObject, type ObjectJson, serviceObject, sliceObject } from '../kernel/cluster-objects.ts';

export interface ClusterSize {
  readonly services: number;
  /** Of each Service. */
  readonly endpoints: number;
}

export interface ScrapedNode {
  /** Of the page of metrics. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A node that has programmed so many Services, whose kernel has counters for all of them. */
export async function startScrapedNode(size: ClusterSize): Promise<ScrapedNode> {
  const folder = await mkdtemp(join(tmpdir(), 'scraped-node-'));
  const { counters, connections } = kernelTexts(size);
  const [tool, statistics, table] = ['ipvsadm', 'statistics', 'ip_vs'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(statistics, counters);
  await writeFile(table, connections);
  await writeFile(tool, `#!/bin/sh\nexec cat ${statistics}\n`);
  await chmod(tool, 0o755);
  const node = new ObservedNode({ replace: (host) => printing(host, table) });
  await node.serving.start();
  await node.apply(clusterObjects(size), 0);
  await node.listed();
  while (!(await node.ask('metrics', '/metrics?ipvs=off')).body.includes(PASSED)) await node.advance(0);
  process.env.PATH = `${folder}${delimiter}${process.env.PATH}`;
  return {
    url: `http://127.0.0.1:${node.serving.port('metrics')}/metrics`,
    stop: async () => {
      await node.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The host, but for what is read for a scrape: a process and a file, as on a real node. */
function printing(host: Host, table: string): Host {
  return {
    ...host,
    runTool: (call) => (call.args.includes('--stats') ? systemHost.runTool(call) : host.runTool(call)),
    readText: async (path) => (path === '/proc/net/ip_vs' ? systemHost.readText(table) : host.readText(path)),
  };
}

function clusterObjects({ services, endpoints }: ClusterSize): readonly ObjectJson[] {
  return [
    nodeObject('node-a', { addresses: ['192.168.0.10'] }),
    ...Array.from({ length: services }, (_, index) => [
      serviceObject(`shop-${index % 50}/service-${index}`, { clusterIPs: [clusterIP(index)] }),
      sliceObject(`shop-${index % 50}/service-${index}-1`, {
        service: `service-${index}`,
        endpoints: Array.from({ length: endpoints }, (_, place) =>
          endpointJson(podIP(index * endpoints + place), `node-${place}`),
        ),
      }),
    ]).flat(),
  ];
}

/** `ipvsadm -Ln --stats --exact` and `/proc/net/ip_vs` of the same table. */
function kernelTexts({ services, endpoints }: ClusterSize): {
  readonly counters: string;
  readonly connections: string;
} {
  const counters = ['IP Virtual Server version 1.2.1 (size=4096)', ...COUNTERS_HEADER];
  const connections = ['IP Virtual Server version 1.2.1 (size=4096)', ...TABLE_HEADER];
  for (let index = 0; index < services; index += 1) {
    counters.push(`TCP  ${`${clusterIP(index)}:80`.padEnd(27)}${numbers(index)}`);
    connections.push(`TCP  ${hexAddress(clusterIP(index))}:0050 rr  `);
    for (let place = 0; place < endpoints; place += 1) {
      const pod = index * endpoints + place;
      counters.push(`  -> ${`${podIP(pod)}:8080`.padEnd(27)}${numbers(pod)}`);
      connections.push(
        `  -> ${hexAddress(podIP(pod))}:1F90      Masq    1      ${pod % 90}          ${pod % 700}        `,
      );
    }
  }
  return { counters: `${counters.join('\n')}\n`, connections: `${connections.join('\n')}\n` };
}

function numbers(seed: number): string {
  const connections = (seed * 7919) % 100_000;
  const cells = [connections, connections * 9, connections * 8, connections * 5000, connections * 90_000];
  return cells.map((cell) => ` ${String(cell).padStart(8)}`).join('');
}

function clusterIP(index: number): string {
  return `172.20.${index >> 8}.${index & 255}`;
}

function podIP(index: number): string {
  return `10.${180 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}

function hexAddress(address: string): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  return bytes.join('').toUpperCase();
}

const PASSED = 'ipvs_proxier_pass_duration_seconds_count{kind="full",result="success"} 1';

const COUNTERS_HEADER = [
  'Prot LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes',
  '  -> RemoteAddress:Port',
];

const TABLE_HEADER = [
  'Prot LocalAddress:Port Scheduler Flags',
  '  -> RemoteAddress:Port Forward Weight ActiveConn InActConn',
];
