import type { Family } from '../../../src/net/family.ts';
import { PROTOCOLS } from '../../../src/net/protocol.ts';
import { ip } from '../../builders/net.ts';
import type { NodeDescription } from '../../trace/node.ts';
import type { GivenPacket } from '../../trace/path.ts';
import type { ObjectJson } from '../cluster-objects.ts';
import type { Links } from '../memory-kernel.ts';
import { LINKS } from '../node-under-test.ts';

/** Addresses of node-a, whose Pods are behind `cni0`. */
export const NODE_LINKS: Links = { ...LINKS, cni0: ['10.180.0.254/24', 'fd00:180::fe/64'] };

/**
 * The same node as packets meet it: two Pods that may be endpoints, one that never is, and sockets of the node itself: on TCP port 22, and on
 * all ports that Services have at addresses of theirs.
 */
export const NODE: NodeDescription = {
  interfaces: new Map(
    [
      ['lo', '127.0.0.1', '::1'],
      ['eth0', '192.168.0.10', 'fd00:168::10'],
      ['cni0', '10.180.0.254', 'fd00:180::fe'],
    ].map(([name = '', ...addresses]) => [name, addresses.map(ip)]),
  ),
  pods: [1, 2, 200].flatMap((last) => [
    { address: ip(`10.180.0.${last}`), interface: 'cni0' },
    { address: ip(`fd00:180::${last}`), interface: 'cni0' },
  ]),
  builtIn: {},
  listeners: [
    { protocol: 'TCP', port: 22 },
    ...PROTOCOLS.flatMap((protocol) => [80, 5300].map((port) => ({ protocol, port }))),
  ],
};

/** Where a connection begins. */
export type Sender = Pick<GivenPacket, 'source' | 'from'> & { readonly name: string };

/** Clients inside and outside of the ranges that Services have, a Pod that serves nothing, and the node itself. */
export const SENDERS: Readonly<Record<Family, readonly Sender[]>> = {
  IPv4: [
    { name: 'a client of 10.0.0.0/8', source: ip('10.7.7.7'), from: { interface: 'eth0' } },
    { name: 'a neighbour', source: ip('192.168.0.50'), from: { interface: 'eth0' } },
    { name: 'a stranger', source: ip('198.18.0.9'), from: { interface: 'eth0' } },
    { name: 'a Pod', source: ip('10.180.0.200'), from: { interface: 'cni0' } },
    { name: 'the node', from: 'process' },
  ],
  IPv6: [
    { name: 'a neighbour', source: ip('fd00:168::50'), from: { interface: 'eth0' } },
    { name: 'a stranger', source: ip('2001:db8::999'), from: { interface: 'eth0' } },
    { name: 'a Pod', source: ip('fd00:180::200'), from: { interface: 'cni0' } },
    { name: 'the node', from: 'process' },
  ],
};

/** The objects with every endpoint on the node that has it as a Pod. */
export function inPlace(objects: readonly ObjectJson[]): readonly ObjectJson[] {
  return objects.map((object) => {
    if (object.kind !== 'EndpointSlice') return object;
    const endpoints = object.endpoints as readonly EndpointJson[];
    return { ...object, endpoints: endpoints.map((each) => ({ ...each, nodeName: homeOf(each) })) };
  });
}

interface EndpointJson {
  readonly addresses: readonly string[];
}

function homeOf({ addresses: [address = ''] }: EndpointJson): string {
  return NODE.pods.some((pod) => pod.address === address) ? 'node-a' : 'node-b';
}

/** Services change their cluster addresses and node ports with one another, `by` places on. */
export function rotate(objects: readonly ObjectJson[], by: number): readonly ObjectJson[] {
  const next = (number: string) => `${1 + ((Number(number) - 1 + by) % 3)}`;
  const rotated = (text: string) =>
    text
      .replace(/(172\.20\.\d\.|fd00:20:\d::)([123])"/g, (_, network, last) => `${network}${next(last)}"`)
      .replace(/("nodePort":30)([123])/g, (_, start, index) => `${start}${next(index)}`);
  return objects.map((object) => (object.kind === 'Service' ? JSON.parse(rotated(JSON.stringify(object))) : object));
}
