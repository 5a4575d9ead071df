import type { FamilyMode } from '../../test/conformance/plan.ts';

/** The program, broken on purpose by one replacement in one file. */
export interface Mutant {
  readonly name: string;
  /** Under src/. */
  readonly file: string;
  /** Has to be in the file exactly once. */
  readonly search: string;
  readonly replace: string;
  readonly family: FamilyMode;
  /** Scenarios that have to notice, by their names. */
  readonly focus: RegExp;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no masquerade',
    file: 'desired/nat-rules.ts',
    search: "rule([needed], { kind: 'masquerade', randomFully }),",
    replace: '',
    family: 'ipv4',
    focus: /functioning NodePort|show a node to pods/,
  },
  {
    name: 'affinity ignored',
    file: 'desired/service-part.ts',
    search: 'persistenceSeconds: port.affinitySeconds,',
    replace: 'persistenceSeconds: 0,',
    family: 'ipv4',
    focus: /session affinity work for (service with type clusterIP|NodePort)/,
  },
  {
    name: 'terminating ignored',
    file: 'topology/select-endpoints.ts',
    search: 'chosen: endpoints.filter(servesWhileTerminating)',
    replace: 'chosen: []',
    family: 'ipv4',
    focus: /fallback to (local )?terminating endpoints/,
  },
  {
    name: 'Local ignored',
    file: 'topology/select-endpoints.ts',
    search: 'const local = endpoints.filter((endpoint) => endpoint.local);',
    replace: 'const local = endpoints;',
    family: 'ipv4',
    focus: /internalTrafficPolicy=Local Pod to Pod|only target nodes with endpoints/,
  },
  {
    name: 'UDP flows kept',
    file: 'desired/udp-flows.ts',
    search: "if (part?.port.protocol !== 'UDP') continue;",
    replace: 'continue;',
    family: 'ipv4',
    focus: /preserve UDP traffic/,
  },
  {
    name: 'wrong family',
    file: 'tracking/tracker.ts',
    search: 'slice?.family === this.#family',
    replace: "slice?.family === 'IPv4'",
    family: 'dual',
    focus: /serve a basic endpoint|create service with ipv4,ipv6 cluster ip/,
  },
  {
    name: 'no health check',
    file: 'desired/health-checks.ts',
    search: 'if (port === undefined) return [];',
    replace: 'return [];',
    family: 'ipv4',
    focus: /health check node port|only target nodes with endpoints/,
  },
  {
    name: 'no hairpin',
    file: 'desired/nat-rules.ts',
    search: "rule(named(id, family, 'dst,dst,src'), { kind: 'masquerade', randomFully: false }),",
    replace: '',
    family: 'ipv4',
    focus: /hairpin/,
  },
  {
    name: 'hints ignored',
    file: 'topology/select-endpoints.ts',
    search: 'return hintedFor(ready, node);',
    replace: "return { chosen: ready, list: 'cluster', tier: 'ready', hint: undefined };",
    family: 'ipv4',
    focus: /Traffic Distribution/,
  },
  {
    name: 'source ranges ignored',
    file: 'desired/service-part.ts',
    search: '...(isGuarded ? sourceRangeEntries(front.address, port, node) : []),',
    replace: '',
    family: 'ipv4',
    focus: /source ranges/,
  },
];
