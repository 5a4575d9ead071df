import { computeDesired } from '../desired/compute-desired.ts';
import type { Desired } from '../desired/desired.ts';
import type { ProxySettings } from '../desired/settings.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import type { NodeView } from '../model/node-view.ts';
import type { Service } from '../model/service.ts';
import type { Family } from '../net/family.ts';
import { Tracker } from '../tracking/tracker.ts';

/** The wanted state for objects that came as a whole: what a first pass would work towards. */
export function computeOnce(
  objects: { readonly services: Iterable<Service>; readonly slices: Iterable<EndpointSlice> },
  node: NodeView,
  families: readonly Family[],
  settings: ProxySettings,
): readonly Desired[] {
  return families.map((family) => {
    const tracker = new Tracker(family, node.name);
    for (const service of objects.services) tracker.recordService(undefined, service);
    for (const slice of objects.slices) tracker.recordSlice(undefined, slice);
    return computeDesired(tracker.takePendingChanges(), node, settings);
  });
}
