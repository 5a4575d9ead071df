import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { Host } from '../../src/apply/host.ts';
import { Kernel } from '../../src/apply/kernel.ts';
import { decodeObjects } from '../../src/kube/cluster-objects.ts';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import { Proxier } from '../../src/sync/proxier.ts';
import { settings } from '../builders/objects.ts';

/** A row of test/cases/topology-table.yaml, whose head says what its fields mean. */
export interface TopologyRow {
  readonly name: string;
  readonly service: {
    readonly internalTrafficPolicy: Policy;
    readonly externalTrafficPolicy: Policy;
    readonly externallyReachable: boolean;
  };
  readonly node: { readonly name: string; readonly zone: string | null };
  readonly endpoints: readonly {
    readonly address: string;
    readonly nodeName: string;
    readonly ready: boolean;
    readonly serving: boolean;
    readonly terminating: boolean;
    readonly hints?: { readonly forZones?: readonly string[]; readonly forNodes?: readonly string[] };
  }[];
  readonly expect: {
    readonly cluster: readonly string[] | null;
    readonly local: readonly string[] | null;
    readonly all: readonly string[];
    readonly any: boolean;
  };
}

type Policy = 'Cluster' | 'Local';

/** A row with the number that goes into its Service's addresses and node port. */
export interface NumberedRow extends TopologyRow {
  readonly number: number;
}

/** Rows on one and the same node, which one pass can program together. */
export interface RowGroup {
  readonly node: TopologyRow['node'];
  readonly rows: readonly NumberedRow[];
}

/** The addresses of the node in every group, by interface. */
export const ROW_NODE_LINKS: Readonly<Record<string, readonly string[]>> = {
  lo: ['127.0.0.1/8', '::1/128'],
  eth0: ['192.168.0.10/24', 'fd00:168::10/64'],
};
const NODE_ADDRESSES: Readonly<Record<Family, string>> = { IPv4: '192.168.0.10', IPv6: 'fd00:168::10' };

/** All rows of the table. */
export function loadRows(): readonly TopologyRow[] {
  const table = readFileSync(join(import.meta.dirname, '../cases/topology-table.yaml'), 'utf8');
  return (parse(table) as { readonly rows: readonly TopologyRow[] }).rows;
}

/** The same in groups of one node each. */
export function loadRowGroups(): readonly RowGroup[] {
  const groups = new Map<string, NumberedRow[]>();
  for (const [index, row] of loadRows().entries()) {
    const key = JSON.stringify(row.node);
    groups.set(key, [...(groups.get(key) ?? []), { ...row, number: index + 1 }]);
  }
  return [...groups].map(([key, numbered]) => ({ node: JSON.parse(key) as TopologyRow['node'], rows: numbered }));
}

/** One pass over the rows of a group in an empty kernel, as `--behaviour kube-proxy` makes it. Throws when the pass has errors. */
export async function programRows(group: RowGroup, host: Host): Promise<void> {
  const proxier = new Proxier({
    families: FAMILIES,
    nodeName: group.node.name,
    settings: settings({ behaviour: 'kube-proxy' }),
    kernel: new Kernel(host, FAMILIES, () => 0),
    nowMs: () => 0,
  });
  const { nodes, services, slices } = decodeObjects([nodeObject(group), ...group.rows.flatMap(rowObjects)]);
  for (const node of nodes) proxier.record.node(node);
  for (const service of services) proxier.record.service(undefined, service);
  for (const slice of slices) proxier.record.slice(undefined, slice);
  expect((await proxier.pass('normal', ['the table'])).errors).to.deep.equal([]);
}

/** The lines of `ipvsadm -Sn` that are about a row's Service, sorted. */
export function linesOfRow(row: NumberedRow, lines: readonly string[]): readonly string[] {
  const servers = FAMILIES.flatMap((family) => [clusterServer(row, family), nodePortServer(row, family)]);
  return lines.filter((line) => servers.some((server) => line.includes(`-t ${server} `))).sort();
}

/** What those lines have to be. */
export function expectedLines(row: NumberedRow): readonly string[] {
  const { internalTrafficPolicy, externalTrafficPolicy, externallyReachable } = row.service;
  return FAMILIES.flatMap((family) => [
    ...serverLines(clusterServer(row, family), endpointsUnder(internalTrafficPolicy, row), family),
    ...(externallyReachable
      ? serverLines(nodePortServer(row, family), endpointsUnder(externalTrafficPolicy, row), family)
      : []),
  ]).sort();
}

/** In IPVS mode the cluster list stands in for an empty local one, where the port has a cluster list. */
function endpointsUnder(policy: Policy, { expect: { cluster, local } }: TopologyRow): readonly string[] {
  if (policy === 'Cluster' || local === null || local.length === 0) return cluster ?? [];
  return local;
}

function serverLines(server: string, endpoints: readonly string[], family: Family): readonly string[] {
  const reals = endpoints.map(
    (address) => `-a -t ${server} -r ${addressPort(inFamily(address, family), 8080)} -m -w 1`,
  );
  return [`-A -t ${server} -s rr`, ...reals];
}

function clusterServer(row: NumberedRow, family: Family): string {
  return addressPort(clusterIP(row, family), 80);
}

function nodePortServer(row: NumberedRow, family: Family): string {
  return addressPort(NODE_ADDRESSES[family], nodePort(row));
}

function nodeObject({ node: { name, zone } }: RowGroup): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: zone === null ? {} : { 'topology.kubernetes.io/zone': zone } },
    status: { addresses: FAMILIES.map((family) => ({ type: 'InternalIP', address: NODE_ADDRESSES[family] })) },
  };
}

/** A dual-stack Service of the row's policies with a slice of each family. */
function rowObjects(row: NumberedRow): readonly object[] {
  const { externallyReachable, internalTrafficPolicy, externalTrafficPolicy } = row.service;
  const clusterIPs = FAMILIES.map((family) => clusterIP(row, family));
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: row.name },
    spec: {
      type: externallyReachable ? 'NodePort' : 'ClusterIP',
      clusterIP: clusterIPs[0],
      clusterIPs,
      ipFamilies: FAMILIES,
      ipFamilyPolicy: 'RequireDualStack',
      sessionAffinity: 'None',
      internalTrafficPolicy,
      externalTrafficPolicy,
      ports: [
        {
          name: 'http',
          protocol: 'TCP',
          port: 80,
          targetPort: 8080,
          ...(externallyReachable ? { nodePort: nodePort(row) } : {}),
        },
      ],
    },
  };
  return [service, ...FAMILIES.map((family) => sliceObject(row, family))];
}

function sliceObject(row: NumberedRow, family: Family): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: 'shop',
      name: `${row.name}-${family.toLowerCase()}`,
      labels: { 'kubernetes.io/service-name': row.name },
    },
    addressType: family,
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: row.endpoints.map(({ address, nodeName, ready, serving, terminating, hints }) => ({
      addresses: [inFamily(address, family)],
      nodeName,
      conditions: { ready, serving, terminating },
      ...(hints === undefined ? {} : { hints: hintsObject(hints) }),
    })),
  };
}

function hintsObject({ forZones, forNodes }: NonNullable<TopologyRow['endpoints'][number]['hints']>): object {
  const named = (names: readonly string[]) => names.map((name) => ({ name }));
  return {
    ...(forZones === undefined ? {} : { forZones: named(forZones) }),
    ...(forNodes === undefined ? {} : { forNodes: named(forNodes) }),
  };
}

function clusterIP({ number }: NumberedRow, family: Family): string {
  return family === 'IPv4' ? `172.20.1.${number}` : `fd00:172:20::${number}`;
}

function nodePort({ number }: NumberedRow): number {
  return 31_000 + number;
}

/** The twin of an IPv4 endpoint of the table, 10.180.N.M, is fd00:180:aN::M: its text stays canonical when N is 0. */
function inFamily(address: string, family: Family): string {
  if (family === 'IPv4') return address;
  const [, , subnet, host] = address.split('.');
  return `fd00:180:a${subnet}::${host}`;
}

function addressPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
