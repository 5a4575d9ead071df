import type { RuleText } from '../kernel/iptables/state.ts';
import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import {
  type IpvsState,
  type RealServer,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerKey,
} from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { protocolNumber } from '../net/protocol.ts';

/** The chain of table filter that closes load balancers to the node itself. It knows the node by the address that it dials, if that is bound. */
export const CLOSING = 'KUBE-IPVS-OUT-FILTER';

/** Tells the virtual servers that rules close to the node itself, as long as their address is bound. */
export function closedToNode(
  filter: ReadonlyMap<string, readonly RuleText[]>,
): (server: Pick<VirtualServer, 'address' | 'protocol' | 'port'>) => boolean {
  let frontends: ReadonlySet<string> | undefined;
  return (server) => {
    frontends ??= frontendsNamedIn(filter.get(CLOSING) ?? []);
    return frontends.has(keyInRules(server));
  };
}

/** `6 198.51.100.1 80`, as rules name it. */
export function keyInRules({ address, protocol, port }: Pick<VirtualServer, 'address' | 'protocol' | 'port'>): string {
  return [protocolNumber(protocol), address, port].join(' ');
}

/** The rules that close one of these to the node itself. */
export function rulesClosing(
  filter: ReadonlyMap<string, readonly RuleText[]> = new Map(),
  servers: readonly VirtualServer[],
): readonly RuleText[] {
  const keys = new Set(servers.map(keyInRules));
  return filter.get(CLOSING)?.filter((rule) => [...frontendsNamedIn([rule])].some((key) => keys.has(key))) ?? [];
}

/** Which frontends rules name, as {@link keyInRules}. */
export function frontendsNamedIn(rules: readonly RuleText[]): ReadonlySet<string> {
  return new Set(rules.flatMap((rule) => FRONTEND.exec(rule)?.slice(1).join(' ') ?? []));
}

const FRONTEND = /--vproto (\d+) --vaddr (\S+) --vport (\d+)/;

/** Tells the steps that give real servers to such a one that has stood without its address: they come after that. */
export function waitsForAddress(
  { tables, dummy: wanted }: Pick<KernelState, 'tables' | 'dummy'>,
  { ipvs, dummy }: Pick<ObservedState, 'ipvs' | 'dummy'>,
): (step: IpvsStep) => boolean {
  const isClosed = closedToNode(tables.filter.chains);
  const isUnbound = (address: IpAddress) => wanted.addresses.has(address) && !dummy.addresses.has(address);
  return (step) =>
    'real' in step &&
    ipvs.has(virtualServerKey(step.server)) &&
    isUnbound(step.server.address) &&
    isClosed(step.server);
}

/** Those get no real servers, nor keep any, that are to have an address and do not get it; `stuckReals`: but what the kernel does not let go of. */
export function withoutUnboundReals(
  ipvs: IpvsState,
  { tables, dummy }: Pick<KernelState, 'tables' | 'dummy'>,
  addresses: ReadonlySet<IpAddress>,
  stuckReals: (key: VirtualServerKey) => readonly RealServer[],
): IpvsState {
  const unbound = dummy.addresses.difference(addresses);
  if (unbound.size === 0) return ipvs;
  const isClosed = closedToNode(tables.filter.chains);
  const empty = [...ipvs].flatMap(([key, server]) =>
    unbound.has(server.address) && isClosed(server)
      ? [[key, { ...server, realServers: stuckReals(key) }] as const]
      : [],
  );
  return empty.length === 0 ? ipvs : new Map([...ipvs, ...empty]);
}
