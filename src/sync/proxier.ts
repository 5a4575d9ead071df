import type { ProxySettings } from '../desired/settings.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { ClusterNode, InterfaceAddresses, NodeView } from '../model/node-view.ts';
import { same } from '../model/same.ts';
import type { Service } from '../model/service.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { OtherNodes } from '../tracking/other-nodes.ts';
import { Tracker } from '../tracking/tracker.ts';
import type { KernelPort, SyncError } from './ports.ts';
import { type FamilyOutcome, type FamilyState, syncFamily } from './sync-family.ts';

/** `full` reads the kernel anew and compares everything; `normal` trusts what is known of it. */
export type PassKind = 'full' | 'normal';

/** What a pass did, for logs and metrics. */
export interface PassReport {
  readonly kind: PassKind;
  readonly reasons: readonly string[];
  readonly tookMs: number;
  readonly families: readonly FamilyOutcome[];
  /** Empty when everything is as wanted. */
  readonly errors: readonly SyncError[];
}

export interface ProxierOptions {
  readonly families: readonly Family[];
  readonly nodeName: string;
  readonly settings: ProxySettings;
  readonly kernel: KernelPort;
  readonly nowMs: () => number;
}

/**
 * The node's services: events come in at any time, passes turn what they left into kernel state. It never starts a pass by itself.
 * Both families are programmed one after the other, and one that fails does not stop the other.
 */
export class Proxier {
  readonly #options: ProxierOptions;
  #families: readonly FamilyState[];
  readonly #otherNodes = new OtherNodes();
  #node: ClusterNode | undefined;
  #interfaces: InterfaceAddresses = new Map();
  #fullPassDue = true;

  constructor(options: ProxierOptions) {
    this.#options = options;
    this.#families = options.families.map((family) => ({
      family,
      tracker: new Tracker(family, options.nodeName),
      desired: undefined,
      flowsClearedFor: undefined,
    }));
  }

  /** True when a pass is needed. */
  recordService(previous: Service | undefined, current: Service | undefined): boolean {
    return this.#families.map(({ tracker }) => tracker.recordService(previous, current)).includes(true);
  }

  /** True when a pass is needed. */
  recordSlice(previous: EndpointSlice | undefined, current: EndpointSlice | undefined): boolean {
    return this.#families.map(({ tracker }) => tracker.recordSlice(previous, current)).includes(true);
  }

  /** The own Node as the API has it; the last one known stays in force when it is deleted. True when a pass is needed. */
  recordNode(node: ClusterNode): boolean {
    const changed = !same(this.#node, node);
    this.#node = node;
    this.#otherNodes.recordOwn(node.addresses);
    return changed;
  }

  /** Addresses of one other Node. True when a pass is needed. */
  recordOtherNode(previous: readonly IpAddress[] | undefined, current: readonly IpAddress[] | undefined): boolean {
    return this.#otherNodes.recordOther(previous ?? [], current ?? []);
  }

  /** The next pass reads the kernel anew whatever it is asked for. */
  requireFullPass(): void {
    this.#fullPassDue = true;
  }

  async pass(kind: PassKind, reasons: readonly string[]): Promise<PassReport> {
    const { kernel, settings, nowMs } = this.#options;
    const startedMs = nowMs();
    const full = kind === 'full' || this.#fullPassDue;
    const report = (outcomes: readonly FamilyOutcome[], errors: readonly SyncError[]): PassReport => ({
      kind: full ? 'full' : 'normal',
      reasons,
      tookMs: nowMs() - startedMs,
      families: outcomes,
      errors,
    });
    if (full) {
      this.#fullPassDue = true;
      const refreshed = await kernel.refresh();
      if (!refreshed.ok) return report([], [refreshed.error]);
      this.#interfaces = refreshed.value;
    }
    const outcomes: FamilyOutcome[] = [];
    for (const state of this.#families) outcomes.push(await syncFamily(state, this.#nodeView(), settings, kernel));
    this.#families = outcomes.map(({ state }) => state);
    const errors = outcomes.flatMap(({ error }) => error ?? []);
    this.#fullPassDue = errors.length > 0;
    return report(outcomes, errors);
  }

  #nodeView(): NodeView {
    return {
      name: this.#options.nodeName,
      zone: this.#node?.zone,
      podCIDRs: this.#node?.podCIDRs ?? [],
      addresses: this.#node?.addresses ?? [],
      otherNodeAddresses: this.#otherNodes.addresses(),
      interfaces: this.#interfaces,
    };
  }
}
