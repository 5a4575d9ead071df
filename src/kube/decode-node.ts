import type { ClusterNode } from '../model/node-view.ts';
import type { Decoded } from '../model/problem.ts';
import { parseCidr } from '../net/cidr.ts';
import { type IpAddress, parseIpAddress } from '../net/ip-address.ts';
import { complain, frozen, type Json, list, type Reader, readerFor, record, show, text } from './fields.ts';

/** What the cluster autoscaler puts on a node before it takes the node away, with any value and effect. */
const SCALE_DOWN_TAINT = 'ToBeDeletedByClusterAutoscaler';
const ZONE_LABEL = 'topology.kubernetes.io/zone';

/**
 * Cuts a core/v1 Node down to what kernel state depends on. Addresses: every `InternalIP`, then every `ExternalIP`, as far as they parse.
 *
 * Source: kubernetes/kubernetes pkg/util/node/node.go
 */
export function decodeNode(json: unknown): Decoded<ClusterNode> {
  const reader = readerFor(json, 'Node');
  const object = record(json);
  const metadata = record(object.metadata);
  const [spec, status] = [record(object.spec), record(object.status)];
  const name = text(metadata.name);
  if (!name) {
    complain(reader, 'metadata.name', 'is missing; the Node is left out');
    return { problems: reader.problems };
  }
  const podCIDRs = list(reader, 'spec.podCIDRs', spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []));
  const value: ClusterNode = {
    name,
    zone: text(record(metadata.labels)[ZONE_LABEL]) || undefined,
    podCIDRs: frozen(
      podCIDRs.flatMap((entry, index) => {
        const message = `${show(entry)} is not a CIDR; it is passed over`;
        return parseCidr(String(entry)) ?? complain(reader, `spec.podCIDRs[${index}]`, message) ?? [];
      }),
    ),
    addresses: readAddresses(reader, status),
    ...readLeaving(metadata, list(reader, 'spec.taints', spec.taints ?? [])),
  };
  return { value: Object.freeze(value), problems: reader.problems };
}

function readLeaving(metadata: Json, taints: readonly unknown[]): Pick<ClusterNode, 'leaving'> {
  if (text(metadata.deletionTimestamp)) return { leaving: 'deletion' };
  return taints.some((taint) => record(taint).key === SCALE_DOWN_TAINT) ? { leaving: 'scale-down' } : {};
}

/** Cuts a Node that we do not run on down to its addresses. What is wrong with such a Node is no problem of this one. */
export function decodeOtherNode(json: unknown): Decoded<readonly IpAddress[]> {
  return { value: readAddresses(readerFor(json, 'Node'), record(record(json).status)), problems: [] };
}

function readAddresses(reader: Reader, status: Json): readonly IpAddress[] {
  const addresses = list(reader, 'status.addresses', status.addresses).map(record);
  const ofType = (type: string): readonly IpAddress[] =>
    addresses.flatMap((entry, index) => {
      if (entry.type !== type) return [];
      const message = `${show(entry.address)} is not an IP address; it is passed over`;
      return (
        parseIpAddress(String(entry.address)) ?? complain(reader, `status.addresses[${index}].address`, message) ?? []
      );
    });
  return frozen([...ofType('InternalIP'), ...ofType('ExternalIP')]);
}
