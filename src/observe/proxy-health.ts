import type { Family } from '../net/family.ts';

export interface ProxyHealthOptions {
  readonly families: readonly Family[];
  /** How long a pass may be asked for without one that succeeds. */
  readonly staleAfterMs: number;
  /** `strict`: unhealthy also before the first pass that succeeds, and after two in a row that fail. */
  readonly rule: 'strict' | 'kube-proxy';
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  /** A clock that never goes backwards. */
  readonly nowMs: () => number;
}

export interface FamilyHealth {
  /** Milliseconds since 1970; `undefined` before the first time. */
  readonly lastUpdatedMs: number | undefined;
  readonly healthy: boolean;
}

export interface HealthReading {
  readonly healthy: boolean;
  /** Only families that were updated at least once. */
  readonly families: ReadonlyMap<Family, FamilyHealth>;
  readonly lastUpdatedMs: number | undefined;
}

interface FamilyState {
  lastUpdatedMs: number | undefined;
  oldestQueuedMs: number | undefined;
  hasSucceeded: boolean;
  failuresInARow: number;
}

/**
 * Whether passes keep up with what is asked of them, and whether the node is about to go.
 *
 * Source: kubernetes/kubernetes pkg/proxy/healthcheck/proxy_health.go
 */
export class ProxyHealth {
  readonly #options: ProxyHealthOptions;
  readonly #families: ReadonlyMap<Family, FamilyState>;
  #isNodeEligible = false;

  constructor(options: ProxyHealthOptions) {
    this.#options = options;
    this.#families = new Map(
      options.families.map((family) => [
        family,
        { lastUpdatedMs: undefined, oldestQueuedMs: undefined, hasSucceeded: false, failuresInARow: 0 },
      ]),
    );
  }

  /** False while the own Node is not known, and from the time on when it is about to be taken away. */
  get isNodeEligible(): boolean {
    return this.#isNodeEligible;
  }

  /** The own Node as the API has it; `undefined` when it is not there. */
  node(node: { readonly leaving?: unknown } | undefined): void {
    this.#isNodeEligible = node !== undefined && node.leaving === undefined;
  }

  /** Everything is listed, passes begin. */
  started(): void {
    for (const state of this.#families.values()) this.#updated(state);
  }

  /** A pass was asked for. Asking again does not prolong the time it may take. */
  queued(): void {
    for (const state of this.#families.values()) state.oldestQueuedMs ??= this.#options.nowMs();
  }

  /** A pass of the family has ended. One that failed is asked for again. */
  ended(family: Family, how: 'succeeded' | 'failed'): void {
    const state = this.#families.get(family);
    if (!state) return;
    if (how === 'succeeded') {
      state.hasSucceeded = true;
      state.failuresInARow = 0;
      this.#updated(state);
    } else {
      state.failuresInARow += 1;
      state.oldestQueuedMs ??= this.#options.nowMs();
    }
  }

  /** `live` looks at lateness alone, whatever the rule: a restart helps against nothing else. */
  read(question: 'healthy' | 'live'): HealthReading {
    const rule = question === 'live' ? 'kube-proxy' : this.#options.rule;
    const states = [...this.#families].map(([family, state]) => ({
      family,
      lastUpdatedMs: state.lastUpdatedMs,
      healthy: this.#isHealthy(state, rule),
    }));
    const times = states.flatMap(({ lastUpdatedMs }) => lastUpdatedMs ?? []);
    const updated = states.filter(({ lastUpdatedMs }) => lastUpdatedMs !== undefined);
    return {
      healthy: states.every(({ healthy }) => healthy),
      families: new Map(updated.map(({ family, ...health }) => [family, health])),
      lastUpdatedMs: times.length === 0 ? undefined : Math.max(...times),
    };
  }

  #updated(state: FamilyState): void {
    state.lastUpdatedMs = this.#options.wallMs();
    state.oldestQueuedMs = undefined;
  }

  #isHealthy(state: FamilyState, rule: 'strict' | 'kube-proxy'): boolean {
    const { lastUpdatedMs, oldestQueuedMs, hasSucceeded, failuresInARow } = state;
    if (rule === 'strict' && (!hasSucceeded || failuresInARow >= FAILURES_UNTIL_BAD)) return false;
    if (lastUpdatedMs === undefined || oldestQueuedMs === undefined) return true;
    return this.#options.nowMs() - oldestQueuedMs < this.#options.staleAfterMs;
  }
}

const FAILURES_UNTIL_BAD = 2;
