import type { Family } from '../net/family.ts';

/** What the daemon tells of itself at `/status`. Times are RFC 3339. What is not there yet, or does not apply, is absent. */
export interface DaemonStatus {
  readonly version: string;
  readonly node: string;
  readonly mode: 'ipvs';
  readonly behaviour: string;
  readonly scheduler: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly health: HealthStatus;
  readonly totals: StatusTotals;
  readonly queue: QueueStatus;
  readonly passes: PassesStatus;
  readonly drift: DriftStatus;
  readonly quarantine: readonly QuarantineStatus[];
  /** Those that have drained for the longest, 100 at most; `totals` has how many there are. */
  readonly draining: readonly DrainStatus[];
  readonly apiServer: readonly ResourceStatus[];
}

export interface HealthStatus {
  readonly healthy: boolean;
  readonly live: boolean;
  /** False while the own Node is not known, and when it is about to go. */
  readonly nodeEligible: boolean;
  readonly families: Readonly<Partial<Record<Family, { readonly healthy: boolean; readonly lastUpdated: string }>>>;
}

/** As they are known; the kernel is not read for it. */
export interface StatusTotals {
  readonly services: number;
  readonly servicePorts: number;
  readonly virtualServers: number;
  readonly realServers: number;
  readonly draining: number;
}

export interface QueueStatus {
  /** Services that wait for a pass or for another try. */
  readonly waiting: number;
  readonly byLevel: Readonly<Record<string, number>>;
}

export interface PassesStatus {
  readonly full: number;
  readonly normal: number;
  readonly failed: number;
  readonly latest?: PassStatus;
  /** Those that changed something or failed, the latest first, ten at most. */
  readonly notable: readonly PassStatus[];
}

export interface PassStatus {
  readonly at: string;
  readonly kind: 'full' | 'normal';
  readonly reasons: readonly string[];
  /** The most urgent of its Services; absent when it had none. */
  readonly level?: string;
  readonly services: number;
  readonly ms: number;
  /** Steps that ran, by kind. */
  readonly steps: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
}

export interface DriftStatus {
  /** What others had changed, the latest first, ten at most. */
  readonly noticed: readonly { readonly at: string; readonly things: readonly string[] }[];
  /** Steps that undid changes of others, by tool. */
  readonly repaired: Readonly<Record<string, number>>;
}

export interface QuarantineStatus {
  readonly service: string;
  readonly since: string;
  readonly failures: number;
  readonly why?: string;
  /** Absent when it is in a pass now. */
  readonly nextTryInSeconds?: number;
}

export interface DrainStatus {
  readonly virtualServer: string;
  readonly realServer: string;
  readonly seconds: number;
}

/** How one resource is followed. */
export interface ResourceStatus {
  readonly resource: string;
  readonly lists: number;
  readonly events: number;
  readonly lastHeard?: string;
  /** Requests fail at present. */
  readonly trouble?: string;
}

/** One Service in detail, with what the kernel says of it. */
export interface ServiceStatus {
  readonly name: string;
  readonly virtualServers: readonly VirtualServerStatus[];
}

export interface VirtualServerStatus {
  /** `TCP 10.96.0.10:80` */
  readonly address: string;
  readonly port: string;
  /** `cluster`, `external`, `load-balancer` or `node-port`. */
  readonly kind: string;
  readonly scheduler: string;
  readonly persistenceSeconds: number;
  /** False when the kernel does not have it. */
  readonly programmed: boolean;
  readonly realServers: readonly RealServerStatus[];
}

export interface RealServerStatus {
  readonly address: string;
  /** `missing`: wanted, and not in the kernel. */
  readonly state: 'active' | 'no-new-connections' | 'draining' | 'missing';
  readonly weight?: number;
  readonly active?: number;
  readonly inactive?: number;
  readonly drainingSeconds?: number;
}

/** What it answers, with status 404, when it is asked for a Service that is not served. */
export const NO_SUCH_SERVICE = 'no such Service is served\n';

/** What the endpoint answers. */
export interface StatusAnswer extends DaemonStatus {
  /** The one that was asked for, or all. */
  readonly services?: readonly ServiceStatus[];
}
