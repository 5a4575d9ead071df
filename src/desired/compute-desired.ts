import type { NodeView } from '../model/node-view.ts';
import type { Tracked } from '../tracking/tracker.ts';
import type { Desired } from './desired.ts';
import { DesiredState } from './desired-state.ts';
import type { ProxySettings } from './settings.ts';

/** The wanted state of one family for what there is at one time. The same input gives the same state, whatever the order of the maps. */
export function computeDesired(
  tracked: Pick<Tracked, 'family' | 'ports' | 'endpoints'>,
  node: NodeView,
  settings: ProxySettings,
): Desired {
  const everything = { ...tracked, changed: NOTHING, changedPorts: NOTHING };
  return new DesiredState(tracked.family, settings).update(everything, node);
}

const NOTHING: ReadonlySet<never> = new Set();
