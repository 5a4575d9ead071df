import { type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServicePortKey } from '../model/names.ts';
import type { Problem } from '../model/problem.ts';
import type { FrontPart, ServicePart } from './service-part.ts';

/** A frontend with the service port that has it. */
export interface OwnedFrontend {
  readonly part: ServicePart;
  readonly front: FrontPart;
}

export interface OwnedFrontends {
  readonly owned: ReadonlyMap<VirtualServerKey, OwnedFrontend>;
  /** Whose entries and addresses count. Several of one service port may share a frontend, such as its external and its load-balancer one. */
  readonly counting: readonly FrontPart[];
  /** One for each frontend that a service port claims and does not get, sorted. */
  readonly problems: readonly Problem[];
}

/**
 * Gives every frontend to one service port. Its cluster address is nobody else's, as the API server gave it to one Service; of others the
 * older Service has it, then the one whose name comes first: on every node and in every pass the same.
 */
export function ownFrontends(parts: ReadonlyMap<ServicePortKey, ServicePart>): OwnedFrontends {
  const owned = new Map<VirtualServerKey, OwnedFrontend>();
  const claimed = new Set<VirtualServerKey>();
  for (const part of parts.values()) {
    for (const front of part.fronts) {
      const key = virtualServerKey(front.server);
      const owner = owned.get(key);
      if (owner) claimed.add(key);
      if (!owner || comesBefore({ part, front }, owner)) owned.set(key, { part, front });
    }
  }
  const all = [...parts.values()].flatMap((part) => part.fronts.map((front) => ({ part, front })));
  const counting = all
    .filter((each) => counts(each, owned.get(virtualServerKey(each.front.server))))
    .map(({ front }) => front);
  return { owned, counting, problems: claimed.size === 0 ? [] : collisions(parts, owned) };
}

/** False for a frontend that the same service port has already, but for its cluster address, which comes first. */
function comesBefore(one: OwnedFrontend, other: OwnedFrontend): boolean {
  const [isCluster, isOthersCluster] = [one, other].map(({ front }) => front.kind === 'cluster');
  if (isCluster !== isOthersCluster) return isCluster === true;
  const [created, othersCreated] = [one, other].map(({ part }) => part.port.createdAt || UNKNOWN_TIME);
  if (created !== othersCreated) return (created ?? '') < (othersCreated ?? '');
  return one.part.port.key < other.part.port.key;
}

/** Nothing of outside rules is for a cluster address. */
function counts({ part, front }: OwnedFrontend, owner: OwnedFrontend | undefined): boolean {
  return owner?.part === part && (owner.front.kind !== 'cluster' || front.kind === 'cluster');
}

/** After every time. */
const UNKNOWN_TIME = '~';

function collisions(
  parts: ReadonlyMap<ServicePortKey, ServicePart>,
  owned: ReadonlyMap<VirtualServerKey, OwnedFrontend>,
): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const part of parts.values()) {
    for (const front of part.fronts) {
      const key = virtualServerKey(front.server);
      const owner = owned.get(key);
      if (!owner || counts({ part, front }, owner)) continue;
      const message =
        owner.part === part
          ? `${key} is its cluster address too, and is served as that`
          : `${key} is also claimed by ${owner.part.port.key}, which is served`;
      problems.set(`${part.port.key} ${key}`, {
        object: `Service ${part.port.key}`,
        service: part.port.service,
        field: '',
        message,
      });
    }
  }
  return [...problems].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, problem]) => problem);
}
