import type { ClusterObjects } from '../../src/kube/cluster-objects.ts';
import type { ClusterRecord } from '../../src/sync/cluster-record.ts';

/** Records what differs between two states of a cluster, as watches would tell it; `ownNode` is the node that is programmed. */
export function recordCluster(
  record: ClusterRecord,
  before: ClusterObjects,
  after: ClusterObjects,
  ownNode: string,
): void {
  recordServices(record, before, after);
  recordChanges(before.nodes, after.nodes, (old, now) => {
    if ((now ?? old)?.name !== ownNode) record.otherNode(old?.addresses, now?.addresses);
    else if (now) record.node(now);
  });
}

/** Services and EndpointSlices alone. */
export function recordServices(record: ClusterRecord, before: ClusterObjects, after: ClusterObjects): void {
  recordChanges(before.services, after.services, (old, now) => record.service(old, now));
  recordChanges(before.slices, after.slices, (old, now) => record.slice(old, now));
}

/** Of objects that are told apart by their names. */
export function recordChanges<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  record: (old: T | undefined, now: T | undefined) => void,
): void {
  const [old, now] = [before, after].map((list) => new Map(list.map((item) => [item.name, item])));
  for (const [name, item] of now ?? []) record(old?.get(name), item);
  for (const [name, item] of old ?? []) if (!now?.has(name)) record(item, undefined);
}
