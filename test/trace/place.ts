import { DUMMY_INTERFACE } from '../../src/kernel/dummy/state.ts';
import type { Family } from '../../src/net/family.ts';
import { FAMILIES } from '../../src/net/family.ts';
import type { IpAddress } from '../../src/net/ip-address.ts';
import { ip } from '../builders/net.ts';
import type { Links } from '../kernel/memory-kernel.ts';
import type { NodeDescription } from './node.ts';

/** Three nodes in three zones with their pods: the ground on which the tables of conformance play. */
export const PLACE = {
  'node-a': { number: 1, zone: 'zone-a', pods: ['a1', 'a2'] },
  'node-b': { number: 2, zone: 'zone-b', pods: ['b1', 'b2'] },
  'node-c': { number: 3, zone: 'zone-c', pods: ['c1'] },
} as const;

export type NodeName = keyof typeof PLACE;

export const NODE_NAMES = Object.keys(PLACE) as readonly NodeName[];

/** What is not of a node: clients on its network, and addresses of Services. */
const OTHERS: Readonly<Record<string, Readonly<Record<Family, string>>>> = {
  client: { IPv4: '192.168.0.200', IPv6: 'fd00:168::200' },
  stranger: { IPv4: '192.168.0.220', IPv6: 'fd00:168::220' },
  cluster: { IPv4: '172.20.1.1', IPv6: 'fd00:20::1' },
  cluster2: { IPv4: '172.20.1.2', IPv6: 'fd00:20::2' },
  external: { IPv4: '203.0.113.250', IPv6: 'fd00:203::fa' },
  balancer: { IPv4: '203.0.113.10', IPv6: 'fd00:203::10' },
  localhost: { IPv4: '127.0.0.1', IPv6: '::1' },
};

const BY_NAME = new Map<string, Readonly<Record<Family, IpAddress>>>([
  ...Object.entries(OTHERS).map(([name, { IPv4, IPv6 }]) => [name, { IPv4: ip(IPv4), IPv6: ip(IPv6) }] as const),
  ...NODE_NAMES.flatMap((node) => {
    const { number, pods } = PLACE[node];
    const own = { IPv4: ip(`192.168.0.1${number}`), IPv6: ip(`fd00:168::1${number}`) };
    const ofPod = (index: number) => ({
      IPv4: ip(`10.180.${number}.1${index}`),
      IPv6: ip(`fd00:180:${number}::1${index}`),
    });
    return [[node, own] as const, ...pods.map((pod, index) => [pod, ofPod(index + 1)] as const)];
  }),
]);

/** Address of a pod, node, client or Service; an address stands for itself. */
export function addressOf(name: string, family: Family): IpAddress {
  return BY_NAME.get(name)?.[family] ?? ip(name);
}

const NAMES = new Map<string, string>([
  ...[...BY_NAME].flatMap(([name, addresses]) => FAMILIES.map((family) => [addresses[family], name] as const)),
  ...NODE_NAMES.flatMap((node) => FAMILIES.map((family) => [gateway(node, family), node] as const)),
]);

/** Whose address it is; every address of a node is the node's. Others are called by themselves. */
export function nameOf(address: IpAddress): string {
  return NAMES.get(address) ?? address;
}

/** The node that a pod is on, or a node itself; `undefined` for all others. */
export function homeOf(name: string): NodeName | undefined {
  return NODE_NAMES.find((node) => node === name || (PLACE[node].pods as readonly string[]).includes(name));
}

/** Addresses by interface as the kernel has them: the network of all nodes on eth0, and the way to each pod under the pod's name. */
export function linksOf(node: NodeName): Links {
  const { number, pods } = PLACE[node];
  const [v4, v6] = FAMILIES.map((family) => addressOf(node, family));
  const toPods = [`${gateway(node, 'IPv4')}/32`, `${gateway(node, 'IPv6')}/128`, 'fe80::1/64'];
  return {
    lo: ['127.0.0.1/8', '::1/128'],
    eth0: [`${v4}/24`, `${v6}/64`, `fe80::${number}/64`],
    ...Object.fromEntries(pods.map((pod) => [pod, toPods])),
  };
}

export interface NodeGiven {
  readonly builtIn?: NodeDescription['builtIn'];
  /** Interfaces beside the usual ones, with their addresses. */
  readonly moreLinks?: Links;
}

/** The node with its pods, and sockets of its own on TCP ports 22 and 10256. */
export function describeNode(node: NodeName, { builtIn = {}, moreLinks = {} }: NodeGiven = {}): NodeDescription {
  const links = Object.entries({ ...linksOf(node), ...moreLinks }).filter(([name]) => name !== DUMMY_INTERFACE);
  const withoutLength = (address: string) => ip(address.slice(0, address.indexOf('/')));
  const pods = PLACE[node].pods.flatMap((pod) =>
    FAMILIES.map((family) => ({ address: addressOf(pod, family), interface: pod })),
  );
  return {
    interfaces: new Map(links.map(([name, addresses]) => [name, addresses.map(withoutLength)])),
    pods,
    builtIn,
    listeners: [
      { protocol: 'TCP', port: 22 },
      { protocol: 'TCP', port: 10256 },
    ],
  };
}

function gateway(node: NodeName, family: Family): IpAddress {
  const { number } = PLACE[node];
  return ip(family === 'IPv4' ? `10.180.${number}.1` : `fd00:180:${number}::1`);
}
