import type { ProxySettings } from '../desired/settings.ts';
import type { ServiceName } from '../model/names.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import type { Family } from '../net/family.ts';
import type { Refused } from '../plan/refused.ts';
import { ClusterRecord } from './cluster-record.ts';
import type { KernelPort, SyncError } from './ports.ts';
import { type FamilyOutcome, type FamilyState, type Refusal, syncFamily } from './sync-family.ts';

/** `full` reads the kernel anew and compares everything; `normal` trusts what is known of it. */
export type PassKind = 'full' | 'normal';

/** What a pass did, for logs and metrics. */
export interface PassReport {
  readonly kind: PassKind;
  readonly reasons: readonly string[];
  readonly tookMs: number;
  readonly families: readonly TimedOutcome[];
  /** What stood in the way of whole families; empty when everything is as wanted, but for `refusals`. */
  readonly errors: readonly SyncError[];
  /** What the kernel did not take, and was tried in this pass. */
  readonly refusals: readonly Refusal[];
}

export interface TimedOutcome extends FamilyOutcome {
  readonly tookMs: number;
}

export interface ProxierOptions {
  readonly families: readonly Family[];
  readonly nodeName: string;
  readonly settings: ProxySettings;
  readonly kernel: KernelPort;
  readonly nowMs: () => number;
}

/**
 * The node's services: events go into `record` at any time, passes turn what they left into kernel state. It never starts a pass by itself.
 * Both families are programmed one after the other, and one that fails does not stop the other.
 */
export class Proxier {
  readonly record: ClusterRecord;
  readonly #options: ProxierOptions;
  #families: readonly FamilyState[];
  #interfaces: InterfaceAddresses = new Map();
  #fullPassDue = true;
  /** What the kernel did not take when it was tried last. */
  #refused: readonly Refused[] = [];

  constructor(options: ProxierOptions) {
    this.#options = options;
    this.record = new ClusterRecord(options.families, options.nodeName);
    this.#families = this.record.trackers.map((tracker, index) => ({
      family: options.families[index] ?? 'IPv4',
      tracker,
      desired: undefined,
      flowsClearedFor: undefined,
    }));
  }

  /** Addresses of the node's interfaces as of the last full pass. */
  get interfaces(): InterfaceAddresses {
    return this.#interfaces;
  }

  /** The next pass reads the kernel anew whatever it is asked for. */
  requireFullPass(): void {
    this.#fullPassDue = true;
  }

  /** What a pass that is asked to be so will be. */
  kindOf(asked: PassKind): PassKind {
    return this.#fullPassDue ? 'full' : asked;
  }

  /** `isTried`: what the kernel did not take of this Service before is tried again. */
  async pass(
    asked: PassKind,
    reasons: readonly string[],
    isTried: (service: ServiceName) => boolean = () => true,
  ): Promise<PassReport> {
    const { kernel, nowMs } = this.#options;
    const startedMs = nowMs();
    const kind = this.kindOf(asked);
    const report = (outcomes: readonly TimedOutcome[], errors: readonly SyncError[]): PassReport => ({
      kind,
      reasons,
      tookMs: nowMs() - startedMs,
      families: outcomes,
      errors,
      refusals: outcomes.flatMap(({ refusals }) => refusals),
    });
    if (kind === 'full') {
      this.#fullPassDue = true;
      const refreshed = await kernel.refresh();
      if (!refreshed.ok) return report([], [refreshed.error]);
      this.#interfaces = refreshed.value;
    }
    const outcomes = await this.#syncFamilies(isTried);
    const errors = outcomes.flatMap(({ error }) => error ?? []);
    this.#fullPassDue = errors.length > 0;
    return report(outcomes, errors);
  }

  async #syncFamilies(isTried: (service: ServiceName) => boolean): Promise<readonly TimedOutcome[]> {
    const { kernel, settings, nowMs } = this.#options;
    const before = { things: this.#refused, isTried };
    const outcomes: TimedOutcome[] = [];
    for (const state of this.#families) {
      const startedMs = nowMs();
      const outcome = await syncFamily(state, this.record.nodeView(this.#interfaces), settings, kernel, before);
      outcomes.push({ ...outcome, tookMs: nowMs() - startedMs });
    }
    this.#families = outcomes.map(({ state }) => state);
    this.#refused = outcomes.flatMap(({ refused }) => refused);
    return outcomes;
  }
}
