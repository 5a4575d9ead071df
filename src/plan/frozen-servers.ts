import { ownSets, type SetType } from '../kernel/ipset/definitions.ts';
import { addressPortEntry, type IpSet, type IpsetState, type SetEntry } from '../kernel/ipset/state.ts';
import { type VirtualServer, type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState, ObservedState } from '../kernel/state.ts';
import { lackingRules } from './lacking-rules.ts';

/** Tells a virtual server that must get no new endpoints for now; `present`: as it stands. */
export type IsFrozen = (server: VirtualServer, present?: VirtualServer) => boolean;

/**
 * What must get no new endpoints while sets and rules are these, as something lacks that is wanted: somebody who is to be kept out would
 * be let in, clients outside would be sent to endpoints elsewhere, or answers of those would not come back by way of this node. Rules that
 * are not given count as there.
 */
export function frozenServers(
  desired: KernelState,
  { sets, tables }: Pick<ObservedState, 'sets'> & Partial<Pick<ObservedState, 'tables'>>,
): IsFrozen {
  const { keepLocal, closing, portals, exemptions } = ownSets(desired.family);
  const needed = [...keepLocal, ...closing, ...portals, ...exemptions.values()];
  const rules = tables ? lackingRules(desired.tables, tables) : NO_RULES;
  const lacksEntry = frontendsOf(desired, [
    ...missing(needed, desired.sets, sets),
    ...missing([...exemptions.keys()], sets, desired.sets),
    ...entriesOf(
      desired.sets,
      needed.filter((name) => rules.sets.has(name)),
    ),
  ]);
  return (server) => lacksEntry(server) || rules.isAbout(server);
}

const NO_RULES: ReturnType<typeof lackingRules> = { sets: new Set(), isAbout: () => false };

/**
 * The same where sets and rules cannot be read. What stood before has its masquerading as a rule, and what serves somebody is as closed as it
 * was; but nothing may come to be served whose guard nobody has seen. `halfMade`: what was made by passes that came to no end, be it that of
 * these very sets and rules.
 */
export function frozenUnseen(desired: KernelState, halfMade: ReadonlySet<VirtualServerKey>): IsFrozen {
  const { keepLocal, closing } = ownSets(desired.family);
  const keepsLocal = frontendsOf(desired, entriesOf(desired.sets, keepLocal));
  const closes = frontendsOf(desired, entriesOf(desired.sets, closing));
  const rules = lackingRules(desired.tables, { nat: new Map(), filter: new Map() });
  const needsRule = frontendsOf(desired, entriesOf(desired.sets, rules.sets));
  const isGuarded = (server: VirtualServer) => closes(server) || rules.isAbout(server);
  const isHalfMade = (server: VirtualServer) => halfMade.has(virtualServerKey(server)) && needsRule(server);
  return (server, present) => keepsLocal(server) || (!serves(present) && (isGuarded(server) || isHalfMade(server)));
}

function serves(present: VirtualServer | undefined): boolean {
  return present?.realServers.some(({ weight }) => weight > 0) ?? false;
}

type EntryOf = readonly [IpSet, SetEntry];

function entriesOf(sets: IpsetState, names: Iterable<string>): readonly EntryOf[] {
  return missing([...names], sets, new Map());
}

/** Entries of these sets that are in the one and not in the other. */
export function missing(names: readonly string[], from: IpsetState, within: IpsetState): readonly EntryOf[] {
  return names.flatMap((name) => {
    const [set, other] = [from.get(name), within.get(name)];
    if (!set || set.entries === other?.entries) return [];
    return [...set.entries].filter((entry) => !other?.entries.has(entry)).map((entry) => [set, entry] as const);
  });
}

/** Tells the virtual servers that entries are about: those of the frontend, or of the node port. */
export function frontendsOf(
  { family, sets }: KernelState,
  entries: readonly EntryOf[],
): (server: VirtualServer) => boolean {
  if (entries.length === 0) return () => false;
  const { portals } = ownSets(family);
  const about = new Set(
    entries.map(([{ name, type }, entry]) => (isOfPorts(type) ? `${protocolOf(name)} ${entry}` : entry)),
  );
  return ({ address, protocol, port }) => {
    const portal = addressPortEntry(address, protocol, port);
    if (about.has(portal)) return true;
    const isPortal = () => [...portals].some((name) => sets.get(name)?.entries.has(portal));
    return about.has(`${protocol} ${port}`) && !isPortal();
  };
}

export function isOfPorts(type: SetType | string): boolean {
  return type === 'bitmap:port';
}

/** Of a set of node ports. */
export function protocolOf(name: string): 'TCP' | 'UDP' {
  return name.endsWith('UDP') ? 'UDP' : 'TCP';
}
