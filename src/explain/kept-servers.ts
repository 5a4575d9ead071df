import type { KeptServer } from '../kernel/ipvs/diff.ts';
import { realOfKey } from '../kernel/ipvs/real-servers.ts';
import { type IpvsState, realServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { LeftAlone } from './change.ts';
import { realThing, serverThing } from './ipvs-changes.ts';

/** Servers that are not wanted and stay. `observed`: as it was read, with connections. */
export function describeKept(kept: readonly KeptServer[], observed: IpvsState): readonly LeftAlone[] {
  return kept.flatMap((each) => describeOne(each, observed));
}

/** One that begins to drain is a change. */
function describeOne(kept: KeptServer, observed: IpvsState): readonly LeftAlone[] {
  const key = virtualServerKey(kept.server);
  if (kept.why !== 'draining') return [{ thing: serverThing(key), why: KEPT[kept.why] }];
  const real = realServerKey(kept.real);
  const { weight, connections } = realOfKey(observed.get(key)?.realServers ?? [], real) ?? kept.real;
  if (weight > 0) return [];
  const left =
    connections === undefined ? '' : `, ${connections} ${connections === 1 ? 'connection' : 'connections'} left`;
  return [{ thing: realThing(key, real), why: `draining${left}` }];
}

const KEPT = {
  foreign: 'foreign',
  excluded: 'inside excludeCIDRs',
  refused: 'the kernel has refused its deletion; it is tried again',
  lingering: 'its Service is deleted; it lingers until its connections have ended',
} as const;
