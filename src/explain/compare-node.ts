import { type Desired, isElsewhere } from '../desired/desired.ts';
import type { ProxySettings } from '../desired/settings.ts';
import { PATIENT } from '../kernel/ipvs/diff.ts';
import type { IpvsState, RealServer, VirtualServer } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import { checkPlan } from '../plan/check-plan.ts';
import { type Plan, planSync } from '../plan/plan-sync.ts';
import { addressChanges, addressThing } from './address-changes.ts';
import { belongings } from './belongings.ts';
import type { Change, LeftAlone } from './change.ts';
import { ipvsChanges } from './ipvs-changes.ts';
import { describeKept } from './kept-servers.ts';
import { ruleChanges } from './rule-changes.ts';
import { setChanges } from './set-changes.ts';

/** What a pass would do to one family of a node. */
export interface Comparison {
  readonly plan: Plan;
  /** In the order in which a node is programmed: sets, rules, virtual servers, addresses. Empty exactly when the plan has nothing to do. */
  readonly changes: readonly Change[];
  readonly leftAlone: readonly LeftAlone[];
  /** What stands in the way of the pass. */
  readonly troubles: readonly string[];
}

export interface CompareSettings extends Pick<ProxySettings, 'behaviour' | 'excludeCIDRs'> {
  /** Connections to deleted Services may end by themselves. */
  readonly drainsDeleted: boolean;
}

/**
 * Compares as a full pass of a process that has just started. Real servers that drain are on their way out already: they are left alone,
 * also when their last connection has ended and somebody only has to see it. Nothing is known of what a running daemon remembers.
 */
export function compareNode(desired: Desired, observed: ObservedState, settings: CompareSettings): Comparison {
  const { ownAddresses } = desired.node;
  const inputs = {
    behaviour: settings.behaviour,
    excludeCIDRs: settings.excludeCIDRs,
    ownAddresses,
    wanted: { servers: new Set(desired.kernel.ipvs.keys()), addresses: desired.kernel.dummy.addresses },
  };
  const seen = { ...observed, ipvs: withoutLooks(observed.ipvs) };
  const draining = {
    ...PATIENT,
    mayLinger: ({ address }: VirtualServer) => settings.drainsDeleted && !isElsewhere(desired, address),
  };
  const plan = planSync(desired.kernel, seen, inputs, { draining });
  return {
    plan,
    changes: describeChanges(seen, plan, desired, settings),
    leftAlone: [
      ...describeKept(plan.kept, observed.ipvs),
      ...plan.foreignAddresses.map((address) => ({ thing: addressThing(address), why: 'foreign' })),
    ],
    troubles: describeTroubles(plan),
  };
}

/** A real server without weight drains whether somebody has seen its last connection end or not. */
function withoutLooks(state: IpvsState): IpvsState {
  const unseen = ({ connections: _, ...real }: RealServer): RealServer => real;
  return new Map(
    [...state].map(([key, server]) => {
      const idle = server.realServers.some(({ weight, connections }) => weight === 0 && connections === 0);
      if (!idle) return [key, server];
      const realServers = server.realServers.map((real) => (real.weight === 0 ? unseen(real) : real));
      return [key, { ...server, realServers }];
    }),
  );
}

function describeChanges(
  observed: ObservedState,
  { after }: Plan,
  desired: Desired,
  { behaviour }: CompareSettings,
): readonly Change[] {
  const { family } = desired.kernel;
  const rules = family === 'IPv4' ? 'iptables' : 'ip6tables';
  const owned = belongings(desired);
  return [
    ...setChanges(observed.sets, after.sets, owned).map((change) => ({ ...change, tool: 'ipset', family }) as const),
    ...ruleChanges(observed.tables, after.tables).map(
      (change) => ({ ...change, services: [], tool: rules, family }) as const,
    ),
    ...ipvsChanges(observed.ipvs, after.ipvs, desired, behaviour).map(
      (change) => ({ ...change, tool: 'ipvs', family }) as const,
    ),
    ...addressChanges(observed.dummy, after.dummy, owned).map(
      (change) => ({ ...change, tool: 'address', family }) as const,
    ),
  ];
}

function describeTroubles(plan: Plan): readonly string[] {
  return [
    ...plan.blockedSets.map(
      ({ name, table, chain }) =>
        `set ${name} has another type and is named by a rule of chain ${chain} in table ${table}; take that rule out`,
    ),
    ...checkPlan(plan).map(({ message }) => message),
  ];
}
