import { DesiredState } from '../desired/desired-state.ts';
import type { ProxySettings } from '../desired/settings.ts';
import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import type { ServiceName } from '../model/names.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import { type Result, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import { findDrift } from '../plan/find-drift.ts';
import { withoutRefused } from '../plan/without-refused.ts';
import { ClosingAddresses } from './closing-addresses.ts';
import { ClusterRecord } from './cluster-record.ts';
import { Drains } from './drains.ts';
import type { KernelPort, SyncError } from './ports.ts';
import type { FamilyView } from './service-status.ts';
import { type FamilyOutcome, type FamilyParts, type PassInputs, type Refusal, syncFamily } from './sync-family.ts';

/** `full` reads the kernel anew and compares everything; `normal` trusts what is known of it, and looks at what has changed alone. */
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
  /** {@link DEFAULT_DRAINING} unless given. */
  readonly draining?: DrainingSettings;
  readonly kernel: KernelPort;
  readonly nowMs: () => number;
}

/** What becomes of connections to real servers that are not wanted any more. */
export interface DrainingSettings {
  /** Milliseconds after which those that are left are let go; 0 for never. */
  readonly limitMs: number;
  /** Connections to a deleted Service may end by themselves too; else they are cut at once. */
  readonly ofDeletedServices: boolean;
  /** Milliseconds that an address stays bound after its virtual servers were cut, so that clients are answered with a reset; 0 for not at all. */
  readonly closingMs: number;
}

export const DEFAULT_DRAINING: DrainingSettings = { limitMs: 15 * 60 * 1000, ofDeletedServices: false, closingMs: 0 };

/**
 * The node's services: events go into `record` at any time, passes turn what they left into kernel state. It never starts a pass by itself.
 * Both families are programmed side by side, and one that fails does not stop the other.
 */
export class Proxier {
  readonly record: ClusterRecord;
  readonly #options: ProxierOptions;
  readonly #families: readonly FamilyParts[];
  #interfaces: InterfaceAddresses = new Map();
  #fullPassDue = true;
  #isPassing = false;
  /** Counts passes. */
  #turn = 0;
  /** What the kernel did not take, or did not let go of, when it was tried last. */
  #refused: ReadonlyMap<Family, Pick<FamilyOutcome, 'refused' | 'leftovers'>> = new Map();

  constructor(options: ProxierOptions) {
    this.#options = options;
    this.record = new ClusterRecord(options.families, options.nodeName);
    this.#families = this.record.trackers.map((tracker, index) => ({
      family: options.families[index] ?? 'IPv4',
      tracker,
      wanted: new DesiredState(options.families[index] ?? 'IPv4', options.settings),
      drains: new Drains((options.draining ?? DEFAULT_DRAINING).limitMs),
      closing: new ClosingAddresses((options.draining ?? DEFAULT_DRAINING).closingMs),
      halfMade: new Set(),
    }));
  }

  /** Addresses of the node's interfaces as of the last full pass. */
  get interfaces(): InterfaceAddresses {
    return this.#interfaces;
  }

  /** Both families as they are known; the kernel is not asked. */
  get views(): readonly FamilyView[] {
    return this.#families.map(({ family, wanted, drains }) => {
      const known = this.#options.kernel.known(family);
      return {
        desired: wanted.current,
        ipvs: known.ok ? known.value.ipvs : new Map(),
        drains: Map.groupBy(drains.all(), ({ server }) => server),
      };
    });
  }

  /** The next pass reads the kernel anew whatever it is asked for. */
  requireFullPass(): void {
    this.#fullPassDue = true;
  }

  /** What others have done to our things since the last pass; nothing while one is on its way, or before one has succeeded. */
  async findDrift(): Promise<Result<readonly string[], SyncError>> {
    const { kernel } = this.#options;
    const things: string[] = [];
    const turn = this.#turn;
    for (const { family, wanted } of this.#families) {
      const known = kernel.known(family);
      const { current } = wanted;
      if (this.#fullPassDue || this.#isPassing || !known.ok || !current) return succeed([]);
      const [server] = known.value.ipvs.values();
      const seen = await kernel.peek(family, server);
      if (this.#turn !== turn || this.#isPassing) return succeed([]);
      if (!seen.ok) return seen;
      const { refused } = this.#refused.get(family) ?? NOTHING_REFUSED;
      const { tables } = withoutRefused(current.kernel, refused, known.value).desired;
      const wantedNow = { sets: current.kernel.sets.keys(), tables };
      things.push(...findDrift(known.value, wantedNow, seen.value).map((each) => `${family} ${each}`));
    }
    if (things.length > 0) this.requireFullPass();
    return succeed(things);
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
    this.#turn += 1;
    this.#isPassing = true;
    const report = await this.#pass(asked, reasons, isTried);
    this.#isPassing = false;
    return report;
  }

  async #pass(
    asked: PassKind,
    reasons: readonly string[],
    isTried: (service: ServiceName) => boolean,
  ): Promise<PassReport> {
    const { nowMs } = this.#options;
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
    if (kind === 'full') this.#fullPassDue = true;
    const read = kind === 'full' ? await this.#read() : succeed(this.#interfaces);
    if (read.ok) this.#interfaces = read.value;
    const outcomes = await this.#syncFamilies(kind, isTried, read.ok ? undefined : read.error);
    const errors = distinct(outcomes.flatMap(({ error }) => error ?? []));
    this.#fullPassDue = errors.length > 0;
    return report(outcomes, errors);
  }

  /** Reads the kernel; the interface that both families share is made before either needs it. */
  async #read(): Promise<Result<InterfaceAddresses, SyncError>> {
    const { kernel } = this.#options;
    const interfaces = await kernel.refresh();
    if (!interfaces.ok || interfaces.value.has(DUMMY_INTERFACE)) return interfaces;
    const created = await kernel.createInterface();
    return created.ok ? interfaces : created;
  }

  async #syncFamilies(
    kind: PassKind,
    isTried: (service: ServiceName) => boolean,
    unreadable: SyncError | undefined,
  ): Promise<readonly TimedOutcome[]> {
    const { kernel, settings, draining = DEFAULT_DRAINING, nowMs } = this.#options;
    const inputs: Omit<PassInputs, 'refusedBefore'> = {
      node: this.record.nodeView(this.#interfaces),
      settings,
      kernel,
      unreadable,
      everything: kind === 'full',
      drainsDeleted: draining.ofDeletedServices,
      nowMs,
    };
    const outcomes = await Promise.all(
      this.#families.map(async (parts) => {
        const startedMs = nowMs();
        const { refused, leftovers } = this.#refused.get(parts.family) ?? NOTHING_REFUSED;
        const outcome = await syncFamily(parts, { ...inputs, refusedBefore: { things: refused, leftovers, isTried } });
        return { ...outcome, tookMs: nowMs() - startedMs };
      }),
    );
    this.#refused = new Map(outcomes.map(({ state, refused, leftovers }) => [state.family, { refused, leftovers }]));
    return outcomes;
  }
}

const NOTHING_REFUSED: Pick<FamilyOutcome, 'refused' | 'leftovers'> = { refused: [], leftovers: [] };

/** What stops both families is one error. */
function distinct(errors: readonly SyncError[]): readonly SyncError[] {
  return [...new Map(errors.map((error) => [`${error.during}: ${error.message}`, error])).values()];
}
