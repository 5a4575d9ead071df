import { KUBE_PROXY_SETS, SET_DEFINITIONS, type SetId, setName } from '../kernel/ipset/definitions.ts';
import { addressEntry, emptySets, type IpsetState, type SetEntry, withEntries } from '../kernel/ipset/state.ts';
import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState } from '../kernel/state.ts';
import type { ServicePortKey } from '../model/names.ts';
import type { NodeView } from '../model/node-view.ts';
import { describeProblem, type Problem } from '../model/problem.ts';
import { same } from '../model/same.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Tracked } from '../tracking/tracker.ts';
import { type HealthCheck, healthChecks } from './health-checks.ts';
import { type NodeInputs, nodeInputs } from './node-inputs.ts';
import { type OwnedFrontend, ownFrontends } from './own-frontends.ts';
import { byFrontend, filledSets, type RuleInputs } from './rule-inputs.ts';
import { wantedTables } from './rules.ts';
import { type ServicePart, servicePart } from './service-part.ts';
import type { ProxySettings } from './settings.ts';

/** Everything that is wanted of one family, and what it was made from so that the next time only changes are computed. */
export interface Desired {
  readonly kernel: KernelState;
  readonly healthChecks: readonly HealthCheck[];
  /** Frontends that two service ports claim, and addresses that cannot be served. */
  readonly problems: readonly Problem[];
  readonly node: NodeInputs;
  readonly rules: RuleInputs;
  readonly parts: ReadonlyMap<ServicePortKey, ServicePart>;
  /** Who has which frontend. */
  readonly owners: ReadonlyMap<VirtualServerKey, OwnedFrontend>;
}

/**
 * The wanted state of one family. Parts of `previous` are taken over for service ports whose facts and endpoints are the same objects as
 * then. The same input gives the same state, whatever the order of the maps.
 */
export function computeDesired(
  tracked: Tracked,
  node: NodeView,
  settings: ProxySettings,
  previous: Desired | undefined,
): Desired {
  const { family } = tracked;
  const fresh = nodeInputs(node, family, settings, claimedAddresses(tracked));
  const inputs = previous && same(previous.node, fresh) ? previous.node : fresh;
  const parts = computeParts(tracked, inputs, settings, previous);
  const { owned, counting: fronts, problems } = ownFrontends(parts);
  const bound = new Set(fronts.filter(({ bind }) => bind).map(({ server }) => server.address));
  const sets = joinSets([...parts.values(), ...fronts], bound, family, settings);
  const closed = fronts.filter(({ closedToNode }) => closedToNode).map(({ server }) => server);
  const rules: RuleInputs = {
    family,
    behaviour: settings.behaviour,
    filled: filledSets(sets, family),
    mark: 2 ** settings.masqueradeBit,
    masqueradeAll: settings.masqueradeAll,
    randomFully: settings.randomFully,
    detector: inputs.detector,
    ownPods: inputs.ownPods,
    closedToNode: closed.sort(byFrontend),
  };
  return {
    kernel: {
      family,
      ipvs: new Map([...owned].map(([key, { front }]) => [key, front.server])),
      sets,
      dummy: { exists: true, addresses: bound },
      tables: wantedTables(rules),
    },
    healthChecks: healthChecks(parts.values()),
    problems: [...problems, ...addressProblems(parts)],
    node: inputs,
    rules,
    parts,
    owners: owned,
  };
}

function claimedAddresses({ ports }: Tracked): readonly IpAddress[] {
  return [...ports.values()].flatMap(({ externalIPs, loadBalancerVIPs }) => [...externalIPs, ...loadBalancerVIPs]);
}

function computeParts(
  { ports, endpoints }: Tracked,
  node: NodeInputs,
  settings: ProxySettings,
  previous: Desired | undefined,
): ReadonlyMap<ServicePortKey, ServicePart> {
  const known = previous?.node === node ? previous.parts : new Map<ServicePortKey, ServicePart>();
  const parts = new Map<ServicePortKey, ServicePart>();
  for (const [key, port] of ports) {
    const ownEndpoints = endpoints.get(key) ?? NO_ENDPOINTS;
    const old = known.get(key);
    const unchanged = old?.port === port && old.endpoints === ownEndpoints;
    parts.set(key, unchanged ? old : servicePart(port, ownEndpoints, node, settings));
  }
  return parts;
}

const NO_ENDPOINTS: readonly never[] = [];

/** All sets of the family with their entries; every bound address stands in the set that guards the dummy interface. */
function joinSets(
  contributions: readonly Pick<ServicePart, 'entries'>[],
  bound: ReadonlySet<IpAddress>,
  family: Family,
  { behaviour }: ProxySettings,
): IpsetState {
  const entries = new Map<SetId, Set<SetEntry>>([['IPVS-IPS', new Set([...bound].map(addressEntry))]]);
  for (const { entries: own } of contributions) {
    for (const [id, entry] of own) entries.set(id, (entries.get(id) ?? new Set()).add(entry));
  }
  const sets = emptySets(family, behaviour === 'documented' ? SET_DEFINITIONS : KUBE_PROXY_SETS);
  for (const [id, content] of entries) {
    const set = sets.get(setName(id, family));
    if (set) sets.set(set.name, withEntries(set, content));
  }
  return sets;
}

/** Each once, though every port of a Service has it; sorted. */
function addressProblems(parts: ReadonlyMap<ServicePortKey, ServicePart>): readonly Problem[] {
  const problems = [...parts.values()].flatMap((part) => part.problems);
  const distinct = new Map(problems.map((problem) => [describeProblem(problem), problem]));
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, problem]) => problem);
}
