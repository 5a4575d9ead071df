import type { Endpoint } from '../model/endpoint.ts';

/** Where the node stands; `zone` is its topology label, `undefined` without one. */
export interface NodePlace {
  readonly name: string;
  readonly zone: string | undefined;
}

/** The endpoints of one list, and by what they were chosen. */
export interface Selection {
  readonly chosen: readonly Endpoint[];
  /** `local`: of those on this node. */
  readonly list: 'cluster' | 'local';
  /** Those that serve while they terminate stand in where none of the list is ready. */
  readonly tier: 'ready' | 'serving-while-terminating';
  /** Whose hints have restricted it; `undefined` when none have. */
  readonly hint: 'node' | 'zone' | undefined;
}

/** What came of an endpoint: chosen, or why not. */
export type Ruling =
  | 'chosen'
  /** Policy Local, and it is on another node, or on none that is known. */
  | 'other-node'
  /** Neither ready nor about to go. */
  | 'not-ready'
  /** It terminates and serves, but others are ready. */
  | 'terminating'
  /** It terminates and does not serve any more. */
  | 'terminated'
  | 'hint-for-other-node'
  | 'hint-for-other-zone';

/** For traffic to the whole cluster. Where nothing is ready, hints are passed over. */
export function selectFromCluster(endpoints: readonly Endpoint[], node: NodePlace): Selection {
  const ready = endpoints.filter((endpoint) => endpoint.ready);
  if (ready.length === 0) return standIns('cluster', endpoints);
  return hintedFor(ready, node);
}

/** For traffic to this node alone; hints never count. */
export function selectLocal(endpoints: readonly Endpoint[]): Selection {
  const local = endpoints.filter((endpoint) => endpoint.local);
  const ready = local.filter((endpoint) => endpoint.ready);
  if (ready.length === 0) return standIns('local', local);
  return { chosen: ready, list: 'local', tier: 'ready', hint: undefined };
}

/** Why a selection has the endpoint, or has it not; of those that it was made from. */
export function ruling({ chosen, list, tier, hint }: Selection, endpoint: Endpoint): Ruling {
  if (chosen.includes(endpoint)) return 'chosen';
  if (list === 'local' && !endpoint.local) return 'other-node';
  if (tier === 'ready' && endpoint.ready) return hint === 'node' ? 'hint-for-other-node' : 'hint-for-other-zone';
  if (!endpoint.terminating) return 'not-ready';
  return endpoint.serving ? 'terminating' : 'terminated';
}

/** True for an endpoint that a list may have where policies and hints do not forbid it. */
export function isUsable(endpoint: Endpoint): boolean {
  return endpoint.ready || servesWhileTerminating(endpoint);
}

function standIns(list: Selection['list'], endpoints: readonly Endpoint[]): Selection {
  return { chosen: endpoints.filter(servesWhileTerminating), list, tier: 'serving-while-terminating', hint: undefined };
}

/** Hints count only when every ready endpoint has one and at least one of them is for this node: node first, then zone. */
function hintedFor(ready: readonly Endpoint[], { name, zone }: NodePlace): Selection {
  const selection = (chosen: readonly Endpoint[], hint: Selection['hint']): Selection => ({
    chosen,
    list: 'cluster',
    tier: 'ready',
    hint,
  });
  const forNode = ready.filter(({ nodeHints }) => nodeHints.includes(name));
  if (forNode.length > 0 && ready.every(({ nodeHints }) => nodeHints.length > 0)) return selection(forNode, 'node');
  if (zone === undefined) return selection(ready, undefined);
  const forZone = ready.filter(({ zoneHints }) => zoneHints.includes(zone));
  const isForZone = forZone.length > 0 && ready.every(({ zoneHints }) => zoneHints.length > 0);
  return isForZone ? selection(forZone, 'zone') : selection(ready, undefined);
}

function servesWhileTerminating(endpoint: Endpoint): boolean {
  return endpoint.serving && endpoint.terminating;
}
