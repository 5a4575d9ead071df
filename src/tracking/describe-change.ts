import type { Endpoint } from '../model/endpoint.ts';
import type { ServiceName, ServicePortKey } from '../model/names.ts';
import { same } from '../model/same.ts';
import type { Service } from '../model/service.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { EndpointsMap } from './merge-slices.ts';
import { servicePorts } from './service-ports.ts';

/**
 * What one event changes in one Service, as far as the kernel depends on it. An endpoint is one address, whatever the number of its ports.
 * It is usable when traffic of some port goes to it: it is ready, or it serves while terminating and no endpoint of that port is ready.
 */
export interface MaterialChange {
  readonly service: ServiceName;
  /** What happened to the Service itself; `same` when only its endpoints changed. */
  readonly object: 'added' | 'removed' | 'changed' | 'same';
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

/**
 * A change of the Service itself, between endpoints that stay; `undefined` when nothing changes for the families given. A Service counts
 * as there while it is served in one of them, so one that becomes headless is removed.
 */
export function describeServiceChange(
  previous: Service | undefined,
  current: Service | undefined,
  families: readonly Family[],
  endpoints: EndpointsMap,
): MaterialChange | undefined {
  const name = (current ?? previous)?.name;
  const before = families.map((family) => previous && servicePorts(previous, family));
  const after = families.map((family) => current && servicePorts(current, family));
  if (name === undefined || same(before, after)) return undefined;
  const wasThere = before.some((ports) => ports !== undefined);
  const isThere = after.some((ports) => ports !== undefined);
  const seen = byAddress(endpoints, portNumbers(endpoints, endpoints));
  return { ...compare(name, seen, seen), object: wasThere ? (isThere ? 'changed' : 'removed') : 'added' };
}

/** A change of the endpoints of one Service in one family; `undefined` when they are the same in all that the kernel depends on. */
export function describeEndpointChange(
  service: ServiceName,
  before: EndpointsMap,
  after: EndpointsMap,
): MaterialChange | undefined {
  const numbers = portNumbers(before, after);
  const change = compare(service, byAddress(before, numbers), byAddress(after, numbers));
  return change.changedEndpoints === 0 && same(before, after) ? undefined : change;
}

interface Seen {
  readonly usable: boolean;
  /** Every service port and the port number behind it, comparable as text. */
  readonly ports: string;
}

const UNSEEN: Seen = { usable: false, ports: '' };

type SeenByAddress = ReadonlyMap<IpAddress, Seen>;

function compare(service: ServiceName, before: SeenByAddress, after: SeenByAddress): MaterialChange {
  let [gone, usableWent, turnedUnusable, turnedUsable, otherPorts, otherwise] = [0, 0, 0, 0, 0, 0];
  for (const [address, was] of before) {
    const is = after.get(address);
    if (!is) gone += 1;
    if (was.usable && !is?.usable) usableWent += 1;
    if (!is) continue;
    if (was.usable && !is.usable) turnedUnusable += 1;
    if (!was.usable && is.usable) turnedUsable += 1;
    if (was.ports !== is.ports) otherPorts += 1;
    if (was.usable !== is.usable || was.ports !== is.ports) otherwise += 1;
  }
  const [usableBefore, usableAfter] = [countUsable(before), countUsable(after)];
  const appeared = after.size - (before.size - gone);
  return {
    service,
    object: 'same',
    totalBefore: before.size,
    totalAfter: after.size,
    usableBefore,
    usableAfter,
    changedEndpoints: gone + appeared + otherwise,
    usableWent,
    usableCame: usableAfter - (usableBefore - usableWent),
    turnedUnusable,
    turnedUsable,
    portsChanged: otherPorts > 0,
    addressesChanged: gone + appeared > 0,
  };
}

function countUsable(seen: SeenByAddress): number {
  return seen.values().reduce((count, { usable }) => (usable ? count + 1 : count), 0);
}

/** A short number for each service port, the same for both maps. */
function portNumbers(before: EndpointsMap, after: EndpointsMap): ReadonlyMap<ServicePortKey, number> {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return new Map(keys.map((key, number) => [key, number]));
}

function byAddress(endpoints: EndpointsMap, numbers: ReadonlyMap<ServicePortKey, number>): SeenByAddress {
  const seen = new Map<IpAddress, Seen>();
  for (const [key, number] of numbers) {
    const list = endpoints.get(key) ?? [];
    const anyReady = list.some(({ ready }) => ready);
    const likeLast = { port: 0, ready: UNSEEN, unready: UNSEEN };
    for (const endpoint of list) {
      const { address, port } = endpoint;
      if (port !== likeLast.port) {
        const ports = ` ${number}:${port}`;
        Object.assign(likeLast, { port, ready: { usable: true, ports }, unready: { usable: false, ports } });
      }
      const known = seen.get(address);
      const is = isUsable(endpoint, anyReady) ? likeLast.ready : likeLast.unready;
      seen.set(address, known ? { usable: known.usable || is.usable, ports: known.ports + is.ports } : is);
    }
  }
  return seen;
}

function isUsable({ ready, serving, terminating }: Endpoint, anyReady: boolean): boolean {
  return anyReady ? ready : serving && terminating;
}
