import type { ServiceName } from '../model/names.ts';
import { same } from '../model/same.ts';
import type { Service } from '../model/service.ts';
import type { Family } from '../net/family.ts';
import { compareEndpoints, type EndpointDifference } from './compare-endpoints.ts';
import type { EndpointsMap } from './merge-slices.ts';
import { servicePorts } from './service-ports.ts';

/** What one event changes in one Service, as far as the kernel depends on it. */
export interface MaterialChange extends EndpointDifference {
  readonly service: ServiceName;
  /** What happened to the Service itself; `same` when only its endpoints changed. */
  readonly object: 'added' | 'removed' | 'changed' | 'same';
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
  const object = wasThere ? (isThere ? 'changed' : 'removed') : 'added';
  return { service: name, object, ...compareEndpoints(endpoints, endpoints) };
}

/** A change of the endpoints of one Service in one family; `undefined` when they are the same in all that the kernel depends on. */
export function describeEndpointChange(
  service: ServiceName,
  before: EndpointsMap,
  after: EndpointsMap,
): MaterialChange | undefined {
  const difference = compareEndpoints(before, after);
  if (difference.changedEndpoints === 0 && same(before, after)) return undefined;
  return { service, object: 'same', ...difference };
}
