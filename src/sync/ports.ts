import type { Touched } from '../desired/touched.ts';
import type { FlowTargets } from '../kernel/conntrack/state.ts';
import type { IpvsState, VirtualServer, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import type { Result } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import type { Peek } from '../plan/find-drift.ts';
import type { Script } from '../plan/scripts.ts';

/** Something that a pass could not do, as one line for a person. */
export interface SyncError {
  /** What was being done, e.g. `reading the kernel`. */
  readonly during: string;
  readonly message: string;
  /** The tool that refused some lines of its script: two carry out all others, `ipset` stops there. Later scripts did not run. */
  readonly refusedBy?: 'ipvs' | 'address' | 'ipset';
  /** Index of its script among those that were to run. */
  readonly part?: number;
  /** The line at which `ipset` stopped, from 1. */
  readonly line?: number;
}

/** One script that has run. */
export interface ScriptRun {
  readonly tool: Script['tool'] | 'conntrack';
  readonly lines: number;
  readonly tookMs: number;
}

/** What was done about UDP flows that led nowhere. */
export interface ClearedFlows {
  /** Flows that were ended. */
  readonly flows: number;
  /** True when there are more of them, left for another time. */
  readonly more: boolean;
  /** Empty when nothing was stale. */
  readonly runs: readonly ScriptRun[];
}

/** What a pass needs of the kernel. What concerns one family may be asked for while the other is worked on. */
export interface KernelPort {
  /** Reads everything anew, of all families unless given. A family whose rules cannot be read does not keep the other from being known. */
  refresh(families?: readonly Family[]): Promise<Result<InterfaceAddresses, SyncError>>;
  /** What is known of a family; live. An error when it could not be read, and after a failure until it is read again. */
  known(family: Family): Result<ObservedState, SyncError>;
  /** Reads the virtual servers of a family alone, for when not all of it can be read; it does not count as known. */
  readServers(family: Family): Promise<Result<IpvsState, SyncError>>;
  /** Makes the interface for the addresses of both families. */
  createInterface(): Promise<Result<void, SyncError>>;
  /** Reads how many connections the real servers of these virtual servers have now, as part of what is known. */
  countConnections(family: Family, servers: Iterable<VirtualServerKey>): Promise<Result<void, SyncError>>;
  /** A short look at what others are wont to flush, by which drift is found; `server` is looked for. */
  peek(family: Family, server: VirtualServer | undefined): Promise<Result<Peek, SyncError>>;
  /** Runs the scripts of a family one after the other; the first that fails ends it, and what is known of the families is forgotten. */
  run(families: readonly Family[], scripts: readonly Script[]): Promise<Result<readonly ScriptRun[], SyncError>>;
  /** Tells that the named part of a family has become as in `after`, by the scripts that ran. */
  settle(after: ObservedState, scope: Touched | 'everything'): void;
  /** Ends the UDP flows of a family that somebody else answers than may; each call ends so many at most. */
  clearStaleFlows(family: Family, targets: FlowTargets): Promise<Result<ClearedFlows, SyncError>>;
}
