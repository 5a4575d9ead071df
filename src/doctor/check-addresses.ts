import type { Link } from '../kernel/dummy/parse-links.ts';
import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import { type Cidr, cidrContains, cidrsOverlap, type InterfaceAddress, parseCidr, prefixLength } from '../net/cidr.ts';
import { familyOf, isLinkLocal } from '../net/ip-address.ts';
import type { NodeFacts, Wishes } from './facts.ts';
import { type Checked, type Finding, found, notChecked, together } from './finding.ts';

type Facts = Pick<NodeFacts, 'links' | 'uplinks' | 'sysctls'>;

/** Addresses that two have, networks that overlap, and addresses that several nodes would answer for. */
export function checkAddresses(facts: Facts, wishes: Pick<Wishes, 'clusterCIDRs' | 'strictArp'>): Checked {
  const { links, uplinks } = facts;
  if (!links.ok) return notChecked('addresses of the node', links.error);
  const others = links.value.filter(({ name }) => name !== DUMMY_INTERFACE);
  const bound = links.value.find(({ name }) => name === DUMMY_INTERFACE)?.addresses ?? [];
  return together([
    found(...doubleAddresses(bound, others), ...answeredByAll(bound, others, facts, wishes)),
    uplinks.ok
      ? found(
          ...overlaps(
            others.filter(({ name }) => uplinks.value.has(name)),
            wishes.clusterCIDRs,
          ),
        )
      : notChecked('whether ranges of Pods overlap networks of the node', uplinks.error),
    notChecked('whether the range of Services overlaps networks of the node', 'the configuration does not name it'),
  ]);
}

function doubleAddresses(bound: readonly InterfaceAddress[], others: readonly Link[]): readonly Finding[] {
  const services = new Set(bound.map(({ address }) => address));
  return others.flatMap(({ name, addresses }) =>
    addresses
      .filter(({ address }) => services.has(address))
      .map(
        ({ address }): Finding => ({
          level: 'error',
          id: 'address-twice',
          saw: `${address} is on ${name} and on ${DUMMY_INTERFACE}`,
          matters:
            'what was the address of a machine or of another program is that of a Service: ports that the Service does not have are refused',
          remedy: `take it from ${name}, where another program has bound it (keepalived, kube-vip, NodeLocal DNSCache); or from the Service that has it as external IP`,
        }),
      ),
  );
}

/** IPv6 answers for addresses of the interface alone. */
function answeredByAll(
  bound: readonly InterfaceAddress[],
  others: readonly Link[],
  { sysctls }: Facts,
  { strictArp }: Pick<Wishes, 'strictArp'>,
): readonly Finding[] {
  const ignores = Number(sysctls.get('net/ipv4/conf/all/arp_ignore') ?? 0);
  if (ignores > 0) return [];
  const inside = others.flatMap(({ name, addresses }) =>
    addresses.flatMap((own) => {
      const network = networkOf(own);
      if (network === undefined || familyOf(own.address) !== 'IPv4' || isHost(network)) return [];
      const shared = bound.filter(({ address }) => address !== own.address && cidrContains(network, address));
      return shared.map(({ address }) => ({ name, address }));
    }),
  );
  const [first] = inside;
  if (!first) return [];
  const more = inside.length > 1 ? `, and ${inside.length - 1} more` : '';
  return [
    {
      level: 'warning',
      id: 'arp-not-strict',
      saw: `${first.address} of ${DUMMY_INTERFACE} is in the network of ${first.name}${more}, and net.ipv4.conf.all.arp_ignore is 0`,
      matters:
        'every node answers ARP for such an address, whichever of them MetalLB or another speaker has chosen: traffic goes to any of them',
      remedy: strictArp
        ? 'ipvs.strictARP is set: start the daemon anew; or sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2'
        : 'ipvs.strictARP: true',
    },
  ];
}

/** The interface of Pods is inside of their range; one that leads out of the node must not be. */
function overlaps(uplinks: readonly Link[], ranges: readonly Cidr[]): readonly Finding[] {
  return uplinks.flatMap(({ name, addresses }) =>
    addresses.flatMap((own) => {
      const network = networkOf(own);
      if (network === undefined || isLinkLocal(own.address)) return [];
      return ranges
        .filter((range) => cidrsOverlap(range, network))
        .map(
          (range): Finding => ({
            level: 'error',
            id: 'ranges-overlap',
            saw: `clusterCIDR ${range} overlaps ${network}, the network of ${name}`,
            matters:
              'addresses are both of Pods and of machines: one of them cannot be reached, and what comes from it counts as local',
            remedy: 'another clusterCIDR; where it is right, another network for the nodes',
          }),
        );
    }),
  );
}

function networkOf({ address, prefixLength: length }: InterfaceAddress): Cidr | undefined {
  return parseCidr(`${address}/${length}`);
}

function isHost(network: Cidr): boolean {
  return prefixLength(network) === 32;
}
