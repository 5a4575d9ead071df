import { coldStart } from './cold-start.ts';
import { dryRunMemory } from './dry-run-memory.ts';
import type { Bench } from './figure.ts';
import { flatness } from './flatness.ts';
import { fullState } from './full-state.ts';
import { idlePass } from './idle-pass.ts';
import { oneEndpoint } from './one-endpoint.ts';
import { restart } from './restart.ts';

/** Those that need no kernel; `lab.ts` has the others. */
export const BENCHES: readonly Bench[] = [fullState, dryRunMemory, oneEndpoint, flatness, restart, idlePass, coldStart];
