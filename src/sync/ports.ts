import type { FlowTargets } from '../kernel/conntrack/state.ts';
import type { ObservedState } from '../kernel/state.ts';
import type { InterfaceAddresses } from '../model/node-view.ts';
import type { Result } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import type { Script } from '../plan/scripts.ts';

/** Something that a pass could not do, as one line for a person. */
export interface SyncError {
  /** What was being done, e.g. `reading the kernel`. */
  readonly during: string;
  readonly message: string;
  /** The tool that refused some lines of its script and carried out all others; later scripts did not run. */
  readonly refusedBy?: 'ipvs' | 'address';
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

/** What a pass needs of the kernel. */
export interface KernelPort {
  /** Reads everything anew. */
  refresh(): Promise<Result<InterfaceAddresses, SyncError>>;
  /** What is known of a family; virtual servers and their connections are read anew each time. */
  read(family: Family): Promise<Result<ObservedState, SyncError>>;
  /** Runs the scripts one after the other; the first that fails ends it, and what is known is forgotten. */
  run(scripts: readonly Script[]): Promise<Result<readonly ScriptRun[], SyncError>>;
  /** Tells that a family has become this by the scripts that ran. */
  settle(after: ObservedState): void;
  /** Ends the UDP flows of a family that somebody else answers than may; each call ends so many at most. */
  clearStaleFlows(family: Family, targets: FlowTargets): Promise<Result<ClearedFlows, SyncError>>;
}
