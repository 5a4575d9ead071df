import type { World } from './world.ts';

/** One row of the conformance tables: it makes its own Services and pods in a namespace of its own, and tries them with traffic. */
export interface Scenario {
  /** As upstream calls it, without [sig-network]; those that upstream lacks are named alike. */
  readonly name: string;
  /** Rejects when the behaviour is not there. What it made is removed afterwards by others. */
  readonly run: (world: World) => Promise<void>;
  /** Runs while no other scenario does, as it disturbs a node or the API server. */
  readonly alone?: true;
  /** Needs the lab: flags of its daemons, or leave to do anything on a node. Those that run alone need it anyway. */
  readonly lab?: true;
  /** One of the handful that stands for all. */
  readonly smoke?: true;
  /** Needs both families. */
  readonly dual?: true;
}
