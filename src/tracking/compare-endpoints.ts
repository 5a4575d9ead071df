import type { Endpoint } from '../model/endpoint.ts';
import type { ServicePortKey } from '../model/names.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { byAddressAndPort, type EndpointsMap } from './merge-slices.ts';

/**
 * What becomes of the endpoints of one Service. An endpoint is one address, whatever the number of its ports. It is usable when traffic of
 * some port goes to it: it is ready, or it serves while terminating and no endpoint of that port is ready.
 */
export interface EndpointDifference {
  readonly totalBefore: number;
  readonly totalAfter: number;
  readonly usableBefore: number;
  readonly usableAfter: number;
  /** Endpoints that appear, disappear, or change their usability or a port. */
  readonly changedEndpoints: number;
  /** Usable before and not after, whether still there or not. */
  readonly usableWent: number;
  /** Usable after and not before, whether there before or not. */
  readonly usableCame: number;
  /** Of `usableWent`, those that are still there. */
  readonly turnedUnusable: number;
  /** Of `usableCame`, those that were there before. */
  readonly turnedUsable: number;
  /** Some endpoint that stays has other ports. */
  readonly portsChanged: boolean;
  /** Some address appears or disappears. */
  readonly addressesChanged: boolean;
}

/** Each list sorted by `ADDRESS:PORT`. */
export function compareEndpoints(before: EndpointsMap, after: EndpointsMap): EndpointDifference {
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  const [key] = keys;
  const lists = key && keys.length === 1 ? [before.get(key) ?? [], after.get(key) ?? []] : undefined;
  const tally = new Tally();
  if (lists?.every(standsOnce)) countSorted(lists[0] ?? [], lists[1] ?? [], tally);
  else countByAddress(before, after, keys.sort(), tally);
  return tally.difference;
}

class Tally {
  #gone = 0;
  #appeared = 0;
  #otherwise = 0;
  #otherPorts = 0;
  #totalBefore = 0;
  #usableBefore = 0;
  #usableAfter = 0;
  #usableWent = 0;
  #turnedUnusable = 0;
  #turnedUsable = 0;

  /** One address; whether it was usable and is, each `undefined` where it does not stand. */
  add(was: boolean | undefined, is: boolean | undefined, hasSamePorts: boolean): void {
    if (was !== undefined) this.#totalBefore += 1;
    if (was) this.#usableBefore += 1;
    if (is) this.#usableAfter += 1;
    if (was && !is) this.#usableWent += 1;
    if (was === undefined) this.#appeared += 1;
    else if (is === undefined) this.#gone += 1;
    else {
      if (was && !is) this.#turnedUnusable += 1;
      if (!was && is) this.#turnedUsable += 1;
      if (!hasSamePorts) this.#otherPorts += 1;
      if (was !== is || !hasSamePorts) this.#otherwise += 1;
    }
  }

  get difference(): EndpointDifference {
    const [gone, appeared] = [this.#gone, this.#appeared];
    return {
      totalBefore: this.#totalBefore,
      totalAfter: this.#totalBefore - gone + appeared,
      usableBefore: this.#usableBefore,
      usableAfter: this.#usableAfter,
      changedEndpoints: gone + appeared + this.#otherwise,
      usableWent: this.#usableWent,
      usableCame: this.#usableAfter - (this.#usableBefore - this.#usableWent),
      turnedUnusable: this.#turnedUnusable,
      turnedUsable: this.#turnedUsable,
      portsChanged: this.#otherPorts > 0,
      addressesChanged: gone + appeared > 0,
    };
  }
}

/** No address has two ports. */
function standsOnce(list: readonly Endpoint[]): boolean {
  for (let index = 1; index < list.length; index += 1) {
    if (list[index]?.address === list[index - 1]?.address) return false;
  }
  return true;
}

/** One service port, as most Services have it: side by side, without a map. */
function countSorted(before: readonly Endpoint[], after: readonly Endpoint[], tally: Tally): void {
  const [wasUsable, isUsable] = [usableAmong(before), usableAmong(after)];
  let [left, right] = [0, 0];
  for (;;) {
    const [was, is] = [before[left], after[right]];
    if (!was && !is) return;
    const order = was && is ? (was.address === is.address ? 0 : byAddressAndPort(was, is)) : was ? -1 : 1;
    tally.add(
      was && order <= 0 ? wasUsable(was) : undefined,
      is && order >= 0 ? isUsable(is) : undefined,
      was?.port === is?.port,
    );
    if (order <= 0) left += 1;
    if (order >= 0) right += 1;
  }
}

function countByAddress(
  before: EndpointsMap,
  after: EndpointsMap,
  keys: readonly ServicePortKey[],
  tally: Tally,
): void {
  const [seen, now] = [byAddress(before, keys), byAddress(after, keys)];
  for (const [address, was] of seen) {
    const is = now.get(address);
    tally.add(was.usable, is?.usable, was.ports === is?.ports);
  }
  for (const [address, is] of now) if (!seen.has(address)) tally.add(undefined, is.usable, true);
}

interface Seen {
  readonly usable: boolean;
  /** Every service port, by its place among all, and the port number behind it, comparable as text. */
  readonly ports: string;
}

function byAddress(endpoints: EndpointsMap, keys: readonly ServicePortKey[]): ReadonlyMap<IpAddress, Seen> {
  const seen = new Map<IpAddress, Seen>();
  for (const [number, key] of keys.entries()) {
    const list = endpoints.get(key) ?? [];
    const isUsable = usableAmong(list);
    for (const endpoint of list) {
      const { address, port } = endpoint;
      const known = seen.get(address);
      const [usable, ports] = [isUsable(endpoint), ` ${number}:${port}`];
      seen.set(address, known ? { usable: known.usable || usable, ports: known.ports + ports } : { usable, ports });
    }
  }
  return seen;
}

/** Of one service port. */
function usableAmong(list: readonly Endpoint[]): (endpoint: Endpoint) => boolean {
  const anyReady = list.some(({ ready }) => ready);
  return ({ ready, serving, terminating }) => (anyReady ? ready : serving && terminating);
}
