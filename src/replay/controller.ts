import type { DropReason } from '../queue/queue-metrics.ts';
import type { Verdict } from './event-filter.ts';
import { Latencies } from './latencies.ts';

/** What a pass costs: a fixed part, and so much for each Service that it processes. */
export interface PassCost {
  readonly passMs: number;
  readonly serviceMs: number;
}

/** What a pass of a few hundred Services takes, roughly: a handful of processes, and some lines for each Service. */
export const DEFAULT_COST: PassCost = { passMs: 20, serviceMs: 0.05 };

export type ControllerName = 'naive' | 'kube-proxy' | 'ipvs-proxier';

/** One way of turning events into passes. */
export interface Controller {
  readonly name: ControllerName;
  readonly tally: Tally;
  /** An event happens now; `atMs` is now. */
  take(verdict: Verdict, atMs: number): void;
  /** What the events so far tell is a complete picture of the cluster: passes may begin. */
  start(): void;
  /** True when every event so far is in a pass that has ended. */
  isSettled(): boolean;
  /** No pass starts any more. Rejects when a pass threw. */
  stop(): Promise<void>;
}

/** What a controller has done. */
export class Tally {
  readonly latencies = new Latencies();
  readonly dropped: Record<DropReason, number> = { 'same-version': 0, immaterial: 0, 'not-ours': 0 };
  passes = 0;
  servicesProcessed = 0;
  apiRequests = 0;
  /** Time spent in passes, all together. */
  busyMs = 0;
  /** When the last pass ended. */
  lastEndMs = 0;

  /** Counts a pass over so many Services; gives what it costs. */
  pass(services: number, { passMs, serviceMs }: PassCost): number {
    const costMs = passMs + serviceMs * services;
    this.passes += 1;
    this.servicesProcessed += services;
    this.busyMs += costMs;
    return costMs;
  }

  ended(nowMs: number): void {
    this.lastEndMs = Math.max(this.lastEndMs, nowMs);
  }
}
