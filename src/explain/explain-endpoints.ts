import { type Endpoint, endpointKey } from '../model/endpoint.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import { type ServicePortKey, servicePortKey } from '../model/names.ts';
import type { Family } from '../net/family.ts';
import type { Selections } from '../topology/choose-endpoints.ts';
import { ruling, type Selection } from '../topology/select-endpoints.ts';
import { mergeSlices } from '../tracking/merge-slices.ts';
import { RULINGS } from './endpoint-words.ts';

/** What came of one endpoint of a service port. */
export interface EndpointExplanation {
  /** `10.180.0.1:8080`; without a port where its slice has none for the service port. */
  readonly endpoint: string;
  /** `undefined`: the slice does not tell. */
  readonly node: string | undefined;
  /** Which of ready, serving, terminating, local hold. */
  readonly conditions: readonly string[];
  readonly hints: { readonly zones: readonly string[]; readonly nodes: readonly string[] };
  /** `chosen`, or why not, for traffic under policy Cluster; absent where the service port has none, or it came to neither list. */
  readonly cluster?: string;
  /** The same for policy Local. */
  readonly local?: string;
  /** Why it is not even asked for its conditions; absent when it is. */
  readonly passedOver?: string;
}

export interface EndpointInputs {
  readonly key: ServicePortKey;
  /** Name of the port, as the slices have it. */
  readonly portName: string;
  readonly protocol: EndpointSlice['ports'][number]['protocol'];
  readonly family: Family;
  /** Of the Service, both families. */
  readonly slices: readonly EndpointSlice[];
  readonly nodeName: string;
  /** As they were chosen from. */
  readonly endpoints: readonly Endpoint[];
  readonly selections: Selections;
}

/** Every endpoint of the slices: those that were chosen from, in their order, and then those that never came to that. */
export function explainEndpoints(inputs: EndpointInputs): readonly EndpointExplanation[] {
  const { endpoints, selections, slices } = inputs;
  const nodes = new Map(
    slices.flatMap((slice) => slice.endpoints.map(({ address, nodeName }) => [address, nodeName] as const)),
  );
  const known = endpoints.map((endpoint) => ({
    ...describe(endpoint, nodes.get(endpoint.address)),
    ...reason('cluster', selections.cluster, endpoint),
    ...reason('local', selections.local, endpoint),
  }));
  const doubles = doublesOf(inputs).map((endpoint) => ({
    ...describe(endpoint, nodes.get(endpoint.address)),
    passedOver: 'a duplicate: the same address and port stands more than once, and counts once',
  }));
  return [...known, ...doubles, ...slices.flatMap((slice) => ofUselessSlice(slice, inputs))];
}

function describe(endpoint: Endpoint, node: string | undefined): EndpointExplanation {
  const conditions = (['ready', 'serving', 'terminating', 'local'] as const).filter((name) => endpoint[name]);
  const hints = { zones: endpoint.zoneHints, nodes: endpoint.nodeHints };
  return { endpoint: endpointKey(endpoint), node, conditions, hints };
}

function reason(
  list: 'cluster' | 'local',
  selection: Selection | undefined,
  endpoint: Endpoint,
): Pick<EndpointExplanation, 'cluster' | 'local'> {
  return selection ? { [list]: RULINGS[ruling(selection, endpoint)] } : {};
}

function doublesOf({ slices, family, nodeName, key }: EndpointInputs): readonly Endpoint[] {
  const doubles: Endpoint[] = [];
  const ofFamily = slices.filter((slice) => slice.family === family);
  mergeSlices(ofFamily, nodeName, (of, endpoint) => {
    if (of === key) doubles.push(endpoint);
  });
  return doubles;
}

/** Endpoints of a slice that has nothing for the service port. */
function ofUselessSlice(
  slice: EndpointSlice,
  { key, family, portName, protocol }: EndpointInputs,
): readonly EndpointExplanation[] {
  const serves = slice.ports.some((port) => servicePortKey(slice.service, port.name, port.protocol) === key);
  if (slice.family === family && serves) return [];
  const ports = slice.ports.map((port) => `${port.name || 'unnamed'}/${port.protocol}`).join(', ') || 'no port';
  const passedOver =
    slice.family === family
      ? `no such port: slice ${slice.name} has ${ports}, not ${portName || 'unnamed'}/${protocol}`
      : `of ${slice.family}, and the Service has no ${slice.family} cluster address`;
  return slice.endpoints.map(({ address, nodeName, ready, serving, terminating, zoneHints, nodeHints }) => ({
    endpoint: address,
    node: nodeName,
    conditions: Object.entries({ ready, serving, terminating }).flatMap(([name, holds]) => (holds ? [name] : [])),
    hints: { zones: zoneHints, nodes: nodeHints },
    passedOver,
  }));
}
