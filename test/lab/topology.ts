import type { Family } from '../../src/net/family.ts';

/** What a lab is made of. Every name is the name of a network namespace, so all of them differ and none is "lan" or "root". */
export interface LabPlan {
  readonly nodes: readonly NodePlan[];
  readonly clients: readonly ClientPlan[];
  /** Families that are configured; the others get no addresses at all. */
  readonly families: readonly Family[];
}

export interface NodePlan {
  readonly name: string;
  /** 1–9; goes into the addresses of the node and its pods. */
  readonly number: number;
  readonly zone?: string;
  readonly pods: readonly PodPlan[];
}

export interface PodPlan {
  readonly name: string;
}

/** Outside the cluster, on the nodes' network. `routes` send further prefixes (load balancer addresses) to a node. */
export interface ClientPlan {
  readonly name: string;
  readonly routes?: readonly { readonly to: string; readonly via: string }[];
}

export interface LabHost {
  readonly name: string;
  readonly kind: 'node' | 'pod' | 'client' | 'root';
  readonly namespace: string;
  /** The address peers see; the plan's families only are configured in the kernel. */
  readonly addresses: Readonly<Record<Family, string>>;
  /** A client's second address, to be told apart by source; others have none. */
  readonly secondAddresses?: Readonly<Record<Family, string>>;
  readonly zone?: string;
  /** The node a pod is on. */
  readonly node?: string;
}

/** Input for `ip -batch -` (`ip -n NAMESPACE -batch -`). */
export interface Batch {
  readonly namespace: string;
  readonly text: string;
}

/** The namespace of the test process itself, for API servers that the nodes reach at 192.168.0.1 and fd00:168::1. */
export const ROOT = 'root';
const LAN = 'lan';
const ROOT_LEG = 'lab0';
const POD_GATEWAY_V6 = 'fe80::1';
const FIRST_NODE = 10;

/** All hosts of a plan by name, the root namespace among them. */
export function computeHosts(plan: LabPlan): ReadonlyMap<string, LabHost> {
  const hosts: LabHost[] = [{ name: ROOT, kind: 'root', namespace: ROOT, addresses: lanAddresses(1) }];
  for (const node of plan.nodes) {
    const zone = node.zone === undefined ? {} : { zone: node.zone };
    hosts.push({ name: node.name, kind: 'node', namespace: node.name, addresses: nodeAddresses(node), ...zone });
    for (const [index, { name }] of node.pods.entries()) {
      hosts.push({
        name,
        kind: 'pod',
        namespace: name,
        addresses: podAddresses(node, index),
        node: node.name,
        ...zone,
      });
    }
  }
  for (const [index, { name }] of plan.clients.entries()) {
    const [addresses, secondAddresses] = [lanAddresses(200 + index), lanAddresses(220 + index)];
    hosts.push({ name, kind: 'client', namespace: name, addresses, secondAddresses });
  }
  return new Map(hosts.map((host) => [host.name, host]));
}

/** What makes the lab, in this order: namespaces and links first, then each namespace's own side. */
export function renderBuild(plan: LabPlan): readonly Batch[] {
  return [
    { namespace: ROOT, text: text(createLines(plan)) },
    { namespace: LAN, text: text(lanLines(plan)) },
    { namespace: ROOT, text: text(rootLines(plan)) },
    ...plan.clients.map((client, index) => ({ namespace: client.name, text: text(clientLines(plan, client, index)) })),
    ...plan.nodes.flatMap((node) => [
      { namespace: node.name, text: text(nodeLines(plan, node)) },
      ...node.pods.map((pod, index) => ({ namespace: pod.name, text: text(podLines(plan, node, index)) })),
    ]),
  ];
}

/** What removes all of it; for `ip -force -batch`, as parts may be missing. */
export function renderDestroy(plan: LabPlan): Batch {
  return {
    namespace: ROOT,
    text: text([`link del ${ROOT_LEG}`, ...namespaces(plan).map((name) => `netns del ${name}`)]),
  };
}

function namespaces({ nodes, clients }: LabPlan): string[] {
  const pods = nodes.flatMap((node) => node.pods);
  return [LAN, ...[...clients, ...nodes, ...pods].map(({ name }) => name)];
}

function createLines({ nodes, clients, families }: LabPlan): string[] {
  return [
    ...namespaces({ nodes, clients, families }).map((name) => `netns add ${name}`),
    `link add br0 netns ${LAN} type bridge mcast_snooping 0`,
    `link add ${ROOT_LEG} type veth peer ${ROOT} netns ${LAN}`,
    ...[...clients, ...nodes].map(({ name }) => `link add eth0 netns ${name} type veth peer ${name} netns ${LAN}`),
    ...nodes.flatMap((node) =>
      node.pods.map(({ name }) => `link add eth0 netns ${name} type veth peer ${name} netns ${node.name}`),
    ),
  ];
}

function lanLines({ nodes, clients }: LabPlan): string[] {
  const ports = [ROOT, ...[...clients, ...nodes].map(({ name }) => name)];
  return [
    'link set lo up',
    'link set br0 addrgenmode none up',
    ...ports.map((port) => `link set ${port} master br0 addrgenmode none up`),
  ];
}

function rootLines(plan: LabPlan): string[] {
  return [`link set ${ROOT_LEG} addrgenmode none up`, ...lanAddressLines(plan, ROOT_LEG, 1), ...podSubnetRoutes(plan)];
}

function clientLines(plan: LabPlan, client: ClientPlan, index: number): string[] {
  return [
    'link set lo up',
    'link set eth0 addrgenmode none up',
    ...lanAddressLines(plan, 'eth0', 200 + index),
    ...secondAddressLines(plan, 220 + index),
    ...podSubnetRoutes(plan),
    ...(client.routes ?? []).flatMap((route) => clientRoute(plan, route.to, route.via)),
  ];
}

function clientRoute(plan: LabPlan, to: string, via: string): string[] {
  const family: Family = to.includes(':') ? 'IPv6' : 'IPv4';
  const node = plan.nodes.find(({ name }) => name === via);
  if (node === undefined) throw new Error(`the plan routes ${to} to ${via}, which is not one of its nodes`);
  return plan.families.includes(family) ? [`route add ${to} via ${nodeAddresses(node)[family]}`] : [];
}

// Host routes both ways: the node is a pod's only neighbour, so every reply passes it and has its NAT undone there.
function nodeLines(plan: LabPlan, node: NodePlan): string[] {
  return [
    'link set lo up',
    'link set eth0 addrgenmode none up',
    ...lanAddressLines(plan, 'eth0', FIRST_NODE + node.number),
    ...node.pods.flatMap(({ name }, index) => [
      `link set ${name} addrgenmode none up`,
      ...only(plan, {
        IPv4: [
          `address add ${gatewayV4(node)}/32 dev ${name}`,
          `route add ${podAddresses(node, index).IPv4} dev ${name}`,
        ],
        IPv6: [
          `address add fd00:180:${node.number}::1/128 dev ${name} nodad`,
          `address add ${POD_GATEWAY_V6}/64 dev ${name} nodad`,
          `route add ${podAddresses(node, index).IPv6} dev ${name}`,
        ],
      }),
    ]),
    ...podSubnetRoutes(plan, node),
  ];
}

function podLines(plan: LabPlan, node: NodePlan, index: number): string[] {
  const own = podAddresses(node, index);
  return [
    'link set lo up',
    'link set eth0 addrgenmode none up',
    ...only(plan, {
      IPv4: [
        `address add ${own.IPv4}/32 dev eth0`,
        `route add ${gatewayV4(node)} dev eth0`,
        `route add default via ${gatewayV4(node)} dev eth0`,
      ],
      IPv6: [
        `address add fe80::${node.number}:${index + 11}/64 dev eth0 nodad`,
        `address add ${own.IPv6}/128 dev eth0 nodad`,
        `route add default via ${POD_GATEWAY_V6} dev eth0`,
      ],
    }),
  ];
}

function podSubnetRoutes(plan: LabPlan, except?: NodePlan): string[] {
  return plan.nodes
    .filter((node) => node !== except)
    .flatMap((node) =>
      only(plan, {
        IPv4: [`route add 10.180.${node.number}.0/24 via ${nodeAddresses(node).IPv4}`],
        IPv6: [`route add fd00:180:${node.number}::/64 via ${nodeAddresses(node).IPv6}`],
      }),
    );
}

// `nodad` with addresses of our own choice, link-local ones too: otherwise they are tentative, and mute, for seconds.
function lanAddressLines(plan: LabPlan, device: string, number: number): string[] {
  const { IPv4, IPv6 } = lanAddresses(number);
  return only(plan, {
    IPv4: [`address add ${IPv4}/24 dev ${device}`],
    IPv6: [`address add fe80::${number}/64 dev ${device} nodad`, `address add ${IPv6}/64 dev ${device} nodad`],
  });
}

// Never chosen as a source unless asked for: IPv4 prefers the first address of a subnet, IPv6 the one not deprecated.
function secondAddressLines(plan: LabPlan, number: number): string[] {
  const { IPv4, IPv6 } = lanAddresses(number);
  return only(plan, {
    IPv4: [`address add ${IPv4}/24 dev eth0`],
    IPv6: [`address add ${IPv6}/64 dev eth0 nodad preferred_lft 0`],
  });
}

function only(plan: LabPlan, lines: Readonly<Record<Family, readonly string[]>>): string[] {
  return plan.families.flatMap((family) => lines[family]);
}

function nodeAddresses(node: NodePlan): Record<Family, string> {
  return lanAddresses(FIRST_NODE + node.number);
}

function lanAddresses(number: number): Record<Family, string> {
  return { IPv4: `192.168.0.${number}`, IPv6: `fd00:168::${number}` };
}

function podAddresses(node: NodePlan, index: number): Record<Family, string> {
  return { IPv4: `10.180.${node.number}.${index + 11}`, IPv6: `fd00:180:${node.number}::${index + 11}` };
}

function gatewayV4(node: NodePlan): string {
  return `10.180.${node.number}.1`;
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Networks of a node's pods, as the API gives them to it. */
export function podRanges({ addresses }: LabHost): readonly string[] {
  const number = Number(addresses.IPv4.split('.')[3]) - FIRST_NODE;
  return [`10.180.${number}.0/24`, `fd00:180:${number}::/64`];
}
