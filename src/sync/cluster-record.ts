import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ClusterNode, InterfaceAddresses, NodeView } from '../model/node-view.ts';
import { same } from '../model/same.ts';
import type { Service } from '../model/service.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { describeServiceChange, type MaterialChange } from '../tracking/describe-change.ts';
import { OtherNodes } from '../tracking/other-nodes.ts';
import { Tracker } from '../tracking/tracker.ts';

/** What an event comes to. `not-ours`: nothing is served for it, at least not yet; `immaterial`: the kernel does not depend on it. */
export type Recorded =
  | { readonly kind: 'material'; readonly changes: readonly MaterialChange[] }
  | { readonly kind: 'not-ours' | 'immaterial' };

/** What the cluster's events have told so far, both families, until passes take it. Knows nothing of the kernel. */
export class ClusterRecord {
  readonly trackers: readonly Tracker[];
  readonly #families: readonly Family[];
  readonly #nodeName: string;
  readonly #otherNodes = new OtherNodes();
  #node: ClusterNode | undefined;

  constructor(families: readonly Family[], nodeName: string) {
    this.#families = families;
    this.#nodeName = nodeName;
    this.trackers = families.map((family) => new Tracker(family, nodeName));
  }

  service(previous: Service | undefined, current: Service | undefined): Recorded {
    const name = (current ?? previous)?.name;
    if (name === undefined) return IMMATERIAL;
    for (const tracker of this.trackers) tracker.recordService(previous, current);
    const endpoints = new Map(this.trackers.flatMap((tracker) => [...tracker.latestEndpoints(name)]));
    const change = describeServiceChange(previous, current, this.#families, endpoints);
    if (change) return { kind: 'material', changes: [change] };
    return this.trackers.some((tracker) => tracker.serves(name)) ? IMMATERIAL : NOT_OURS;
  }

  /** Slices of Services that are not served are remembered and lead to nothing: their Service brings them along when it comes. */
  slice(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): Recorded {
    const changes: MaterialChange[] = [];
    let isOurs = false;
    for (const tracker of this.trackers) {
      for (const change of tracker.recordSliceChange(previous, current)) {
        if (tracker.serves(change.service)) changes.push(change);
      }
      isOurs ||= [previous, current].some((slice) => slice !== undefined && tracker.serves(slice.service));
    }
    if (changes.length > 0) return { kind: 'material', changes };
    return isOurs ? IMMATERIAL : NOT_OURS;
  }

  /** The own Node as the API has it; the last one known stays in force when it is deleted. True when a pass is needed. */
  node(node: ClusterNode): boolean {
    const changed = !same(this.#node, node);
    this.#node = node;
    this.#otherNodes.recordOwn(node.addresses);
    return changed;
  }

  /** Addresses of one other Node. True when a pass is needed. */
  otherNode(previous: readonly IpAddress[] | undefined, current: readonly IpAddress[] | undefined): boolean {
    return this.#otherNodes.recordOther(previous ?? [], current ?? []);
  }

  /** What waits for the next pass. A Service of both families counts once, changes of slices each. */
  pending(): { readonly services: number; readonly slices: number } {
    const all = this.trackers.map(({ pending }) => pending);
    return {
      services: Math.max(0, ...all.map(({ services }) => services)),
      slices: all.reduce((sum, { slices }) => sum + slices, 0),
    };
  }

  nodeView(interfaces: InterfaceAddresses): NodeView {
    return {
      name: this.#nodeName,
      zone: this.#node?.zone,
      podCIDRs: this.#node?.podCIDRs ?? [],
      addresses: this.#node?.addresses ?? [],
      otherNodeAddresses: this.#otherNodes.addresses(),
      interfaces,
    };
  }
}

const IMMATERIAL: Recorded = { kind: 'immaterial' };
const NOT_OURS: Recorded = { kind: 'not-ours' };
