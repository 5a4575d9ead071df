import { type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { Problem } from '../model/problem.ts';
import type { FrontPart, ServicePart } from './service-part.ts';

/** A frontend with the service port that has it. */
export interface OwnedFrontend {
  readonly part: ServicePart;
  readonly front: FrontPart;
}

/** A frontend that has changed hands, or what its owner wants of it. */
export interface ClaimChange {
  readonly key: VirtualServerKey;
  readonly owner: OwnedFrontend | undefined;
  /** Whose entries and addresses counted, and count now. Several of one service port may share a frontend, such as its external and its load-balancer one. */
  readonly before: readonly FrontPart[];
  readonly after: readonly FrontPart[];
}

interface Claimed {
  readonly claims: readonly OwnedFrontend[];
  readonly counting: readonly FrontPart[];
}

/**
 * Gives every frontend to one of the service ports that claim it. Its cluster address is nobody else's, as the API server gave it to one
 * Service; of others the older Service has it, then the one whose name comes first: on every node and in every pass the same.
 */
export class Claims {
  readonly #frontends = new Map<VirtualServerKey, Claimed>();
  readonly #owners = new Map<VirtualServerKey, OwnedFrontend>();
  readonly #disputed = new Map<VirtualServerKey, readonly (readonly [string, Problem])[]>();

  /** Who has which frontend; live. */
  get owners(): ReadonlyMap<VirtualServerKey, OwnedFrontend> {
    return this.#owners;
  }

  /** Service ports that stand in place of others; the changes are those of the frontends that either has. */
  replace(
    exchanged: readonly { readonly old: ServicePart | undefined; readonly now: ServicePart | undefined }[],
  ): readonly ClaimChange[] {
    const affected = new Map<VirtualServerKey, OwnedFrontend[]>();
    const claimsOf = (key: VirtualServerKey) => {
      const known = affected.get(key);
      if (known) return known;
      const claims = [...(this.#frontends.get(key)?.claims ?? [])];
      affected.set(key, claims);
      return claims;
    };
    for (const { old, now } of exchanged) {
      for (const { server } of old?.fronts ?? []) removeClaims(claimsOf(virtualServerKey(server)), old);
      for (const front of now?.fronts ?? [])
        if (now) claimsOf(virtualServerKey(front.server)).push({ part: now, front });
    }
    return [...affected].map(([key, claims]) => this.#settle(key, claims.slice()));
  }

  /** One for each frontend that a service port claims and does not get, sorted. */
  problems(): readonly Problem[] {
    const problems = [...this.#disputed.values()].flat();
    return problems.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, problem]) => problem);
  }

  /** `claims` is kept. */
  #settle(key: VirtualServerKey, claims: readonly OwnedFrontend[]): ClaimChange {
    const before = this.#frontends.get(key)?.counting ?? NOTHING;
    const owner = claims.reduce<OwnedFrontend | undefined>(
      (best, each) => (best === undefined || comesBefore(each, best) ? each : best),
      undefined,
    );
    const after = claims.filter((each) => counts(each, owner)).map(({ front }) => front);
    if (owner) {
      this.#frontends.set(key, { claims, counting: after });
      this.#owners.set(key, owner);
    } else {
      this.#frontends.delete(key);
      this.#owners.delete(key);
    }
    if (owner && claims.length > 1) this.#disputed.set(key, disputes(key, claims, owner));
    else this.#disputed.delete(key);
    return { key, owner, before, after };
  }
}

const NOTHING: readonly never[] = [];

function removeClaims(claims: OwnedFrontend[], part: ServicePart | undefined): void {
  for (let index = claims.length - 1; index >= 0; index -= 1) {
    if (claims[index]?.part === part) claims.splice(index, 1);
  }
}

/** False for a frontend that the same service port has already, but for its cluster address, which comes first. */
function comesBefore(one: OwnedFrontend, other: OwnedFrontend): boolean {
  const [isCluster, isOthersCluster] = [one, other].map(({ front }) => front.kind === 'cluster');
  if (isCluster !== isOthersCluster) return isCluster === true;
  const [created, othersCreated] = [one, other].map(({ part }) => part.port.createdAt || UNKNOWN_TIME);
  if (created !== othersCreated) return (created ?? '') < (othersCreated ?? '');
  return one.part.port.key < other.part.port.key;
}

/** After every time. */
const UNKNOWN_TIME = '~';

/** Nothing of outside rules is for a cluster address. */
function counts({ part, front }: OwnedFrontend, owner: OwnedFrontend | undefined): boolean {
  return owner?.part === part && (owner.front.kind !== 'cluster' || front.kind === 'cluster');
}

function disputes(
  key: VirtualServerKey,
  claims: readonly OwnedFrontend[],
  owner: OwnedFrontend,
): readonly (readonly [string, Problem])[] {
  const lost = claims.filter((each) => !counts(each, owner)).map(({ part }) => part);
  return [...new Set(lost)].map((part) => {
    const message =
      owner.part === part
        ? `${key} is its cluster address too, and is served as that`
        : `${key} is also claimed by ${owner.part.port.key}, which is served`;
    const { key: name, service } = part.port;
    return [`${name} ${key}`, { object: `Service ${name}`, service, field: '', message }] as const;
  });
}
