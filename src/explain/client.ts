import type { LocalDetector } from '../desired/node-inputs.ts';
import type { RuleInputs } from '../desired/rule-inputs.ts';
import type { Endpoint } from '../model/endpoint.ts';
import { type Cidr, cidrContains } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import { formatAddress, type IpAddress, parseAddressBytes } from '../net/ip-address.ts';

/** Somebody who dials a frontend, as an example of all like it. */
export interface Client {
  readonly who:
    | 'a Pod of this node'
    | 'a Pod of another node'
    | 'a client outside'
    | 'a client outside, inside the source ranges'
    | 'this node';
  readonly source: IpAddress;
  /** Its packets come in by the interfaces of this node's Pods. */
  readonly isOwnPod: boolean;
  /** A process of the node itself. */
  readonly isNode: boolean;
}

/** What is known of where clients are. */
export interface Surroundings {
  readonly rules: Pick<RuleInputs, 'family' | 'detector' | 'ownPods'>;
  /** Pods that are known of. */
  readonly endpoints: readonly Endpoint[];
  readonly sourceRanges: readonly Cidr[];
}

/** One of each kind that there is at this address. Kinds that cannot be told from others by what is known are left out. */
export function clientsOf(front: IpAddress, { rules, endpoints, sourceRanges }: Surroundings): readonly Client[] {
  const { family, detector, ownPods } = rules;
  const isFree = (candidate: IpAddress) => !endpoints.some(({ address }) => address === candidate);
  const own = addressOf(ownPods, isFree) ?? endpoints.find(({ local }) => local)?.address;
  const isOwn = (address: IpAddress) => ownPods?.kind === 'source' && cidrContains(ownPods.cidr, address);
  const other =
    endpoints.find(({ local, address }) => !local && !isOwn(address))?.address ??
    addressOf(detector, (address) => !isOwn(address));
  const isPod = (address: IpAddress) => detector?.kind === 'source' && cidrContains(detector.cidr, address);
  const outside = OUTSIDE[family].find(
    (address) => !isPod(address) && !sourceRanges.some((range) => cidrContains(range, address)),
  );
  const [range] = sourceRanges;
  return [
    ...client('a Pod of this node', own, { isOwnPod: true }),
    ...client('a Pod of another node', other),
    ...client('a client outside', outside),
    ...client('a client outside, inside the source ranges', range && inside(range)),
    ...client('this node', front, { isNode: true }),
  ];
}

function client(
  who: Client['who'],
  source: IpAddress | undefined,
  { isOwnPod = false, isNode = false }: Partial<Pick<Client, 'isOwnPod' | 'isNode'>> = {},
): readonly Client[] {
  return source === undefined ? [] : [{ who, source, isOwnPod, isNode }];
}

/** Ranges for documentation, which nobody has. */
const OUTSIDE: Readonly<Record<Family, readonly IpAddress[]>> = {
  IPv4: ['192.0.2.1', '198.51.100.1', '203.0.113.1'] as string[] as IpAddress[],
  IPv6: ['2001:db8::1', '2001:db8:ffff::1', '3fff::1'] as string[] as IpAddress[],
};

/** Some address of the range that will do, from its first ones and its last. */
function addressOf(
  detector: LocalDetector | undefined,
  willDo: (address: IpAddress) => boolean,
): IpAddress | undefined {
  if (detector?.kind !== 'source') return undefined;
  return [inside(detector.cidr), last(detector.cidr)].find(willDo);
}

/** The second address of a range, or its only one. */
function inside(range: Cidr): IpAddress {
  const [network = '', length] = range.split('/');
  const bytes = [...(parseAddressBytes(network) ?? [])];
  const end = bytes.length - 1;
  if (Number(length) < bytes.length * 8) bytes[end] = (bytes[end] ?? 0) | 1;
  return formatAddress(bytes);
}

function last(range: Cidr): IpAddress {
  const [network = '', length] = range.split('/');
  const bytes = (parseAddressBytes(network) ?? []).map(
    (byte, index) => byte | (0xff >> Math.min(8, Math.max(0, Number(length) - 8 * index))),
  );
  return formatAddress(bytes);
}
