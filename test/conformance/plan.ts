import type { Family } from '../../src/net/family.ts';
import type { LabPlan } from '../lab/topology.ts';

/** What a run serves: one family, or both with IPv4 first. */
export type FamilyMode = 'ipv4' | 'ipv6' | 'dual';

export const FAMILY_MODES: readonly FamilyMode[] = ['ipv4', 'ipv6', 'dual'];

export const FAMILIES_OF: Readonly<Record<FamilyMode, readonly Family[]>> = {
  ipv4: ['IPv4'],
  ipv6: ['IPv6'],
  dual: ['IPv4', 'IPv6'],
};

/** Load balancer addresses and external IPs. */
const ROUTES = [
  { to: '203.0.113.0/24', via: 'node-a' },
  { to: 'fd00:203::/64', via: 'node-a' },
];

/** Three nodes in two zones with three pods each, and two clients outside, which reach external addresses through node-a. */
export function planOf(mode: FamilyMode): LabPlan {
  return {
    families: FAMILIES_OF[mode],
    nodes: [
      { name: 'node-a', number: 1, zone: 'zone-1', pods: podsOf('a') },
      { name: 'node-b', number: 2, zone: 'zone-1', pods: podsOf('b') },
      { name: 'node-c', number: 3, zone: 'zone-2', pods: podsOf('c') },
    ],
    clients: [
      { name: 'client', routes: ROUTES },
      { name: 'stranger', routes: ROUTES },
    ],
  };
}

function podsOf(letter: string): LabPlan['nodes'][number]['pods'] {
  return [1, 2, 3].map((number) => ({ name: `${letter}${number}` }));
}
