import type { Family } from '../../src/net/family.ts';
import { familyOf, type IpAddress, isLinkLocal, isLoopback } from '../../src/net/ip-address.ts';
import type { Protocol } from '../../src/net/protocol.ts';
import type { BuiltInChains } from './chains.ts';

/** A node as far as the way of a packet depends on it. */
export interface NodeDescription {
  /** Addresses of both families by interface, `kube-ipvs0` left out. The first interface but `lo` leads out of the node. */
  readonly interfaces: ReadonlyMap<string, readonly IpAddress[]>;
  /** Pods of the node, each behind an interface of its own. */
  readonly pods: readonly { readonly address: IpAddress; readonly interface: string }[];
  readonly builtIn: BuiltInChains;
  /** Sockets of the node itself; without an address they listen on all. */
  readonly listeners: readonly Listener[];
}

export interface Listener {
  readonly protocol: Protocol;
  readonly port: number;
  readonly address?: IpAddress;
}

/** Where packets go and what the kernel fills in. */
export interface Routing {
  /** True for an address that the node answers to. */
  readonly isLocal: (address: IpAddress) => boolean;
  /** The source of a packet of the node itself to this destination; also what masquerading writes. */
  readonly sourceTowards: (destination: IpAddress) => IpAddress;
  readonly masqueradeTowards: (destination: IpAddress) => IpAddress;
  /** True when packets to the address come to this node: its own real addresses and its pods. */
  readonly isHere: (address: IpAddress) => boolean;
}

/** `bound`: addresses of the dummy interface, local like all others. */
export function routing(node: NodeDescription, bound: ReadonlySet<IpAddress>, family: Family): Routing {
  const own = new Set([...node.interfaces.values()].flat());
  const isLocal = (address: IpAddress) => own.has(address) || bound.has(address) || isLoopback(address);
  const pod = (address: IpAddress) => node.pods.find((candidate) => candidate.address === address);
  const uplink = [...node.interfaces.keys()].find((name) => name !== 'lo') ?? '';
  const addressOf = (name: string) => {
    const addresses = node.interfaces.get(name) ?? [];
    return addresses.find((address) => familyOf(address) === family && !isLinkLocal(address));
  };
  const masqueradeTowards = (destination: IpAddress) => {
    const address = addressOf(pod(destination)?.interface ?? uplink) ?? addressOf(uplink);
    if (address === undefined) throw new Error(`the node has no ${family} address to send from`);
    return address;
  };
  return {
    isLocal,
    masqueradeTowards,
    sourceTowards: (destination) => (isLocal(destination) ? destination : masqueradeTowards(destination)),
    isHere: (address) => own.has(address) || pod(address) !== undefined,
  };
}
