import type { Family } from '../net/family.ts';
import type { DummyState } from './dummy/state.ts';
import type { IpsetState } from './ipset/state.ts';
import type { ReadTables, WantedTables } from './iptables/state.ts';
import type { IpvsState } from './ipvs/state.ts';

/** All that one family should have in the kernel. */
export interface KernelState {
  readonly family: Family;
  readonly ipvs: IpvsState;
  readonly sets: IpsetState;
  readonly dummy: DummyState;
  readonly tables: WantedTables;
}

/** All that one family has in the kernel, as far as it concerns us. */
export interface ObservedState {
  readonly family: Family;
  readonly ipvs: IpvsState;
  /** Every set of the kernel, of both families and of others too. */
  readonly sets: IpsetState;
  readonly dummy: DummyState;
  readonly tables: ReadTables;
}
