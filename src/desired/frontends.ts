import type { SetId } from '../kernel/ipset/definitions.ts';
import { addressPortEntry, portEntry, type SetEntry } from '../kernel/ipset/state.ts';
import type { ServicePort } from '../model/service-port.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Port } from '../net/port.ts';
import type { NodeInputs } from './node-inputs.ts';

/** An entry of a set, by the set's name without its family. */
export type PartEntry = readonly [SetId, SetEntry];

/** One address and port that clients dial for a service port. */
export interface Frontend {
  readonly kind: 'cluster' | 'external' | 'load-balancer' | 'node-port';
  readonly address: IpAddress;
  readonly port: Port;
  /** True: only endpoints of this node, as long as there are any. */
  readonly policyLocal: boolean;
  /** True when the address has to be bound to the dummy interface. */
  readonly bind: boolean;
  /** What tells the rules about it. */
  readonly entries: readonly PartEntry[];
  /** The set that tells of it while policy Local finds no local endpoint. */
  readonly withoutLocal: SetId;
}

/**
 * Every frontend of a service port on this node. An external or load-balancer address that stands on another interface of the node is
 * served but not bound; one that belongs to another node is left to that node.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/proxier.go
 */
export function frontends(port: ServicePort, node: NodeInputs): readonly Frontend[] {
  return [
    clusterFrontend(port),
    ...externalFrontends(port, node),
    ...loadBalancerFrontends(port, node),
    ...nodePortFrontends(port, node),
  ];
}

function clusterFrontend(port: ServicePort): Frontend {
  const { clusterIP: address, protocol, internalPolicyLocal: policyLocal } = port;
  const entries: PartEntry[] = [['CLUSTER-IP', addressPortEntry(address, protocol, port.port)]];
  return {
    kind: 'cluster',
    address,
    port: port.port,
    policyLocal,
    bind: true,
    entries,
    withoutLocal: 'CLUSTER-IP-NO-LOCAL',
  };
}

function externalFrontends(port: ServicePort, node: NodeInputs): readonly Frontend[] {
  const set = port.externalPolicyLocal ? 'EXTERNAL-IP-LOCAL' : 'EXTERNAL-IP';
  return ownOf(port.externalIPs, node).map((address) => ({
    kind: 'external',
    address,
    port: port.port,
    policyLocal: port.externalPolicyLocal,
    bind: !node.ownAddresses.includes(address),
    entries: [[set, addressPortEntry(address, port.protocol, port.port)]],
    withoutLocal: 'EXTERNAL-NO-LOCAL',
  }));
}

function loadBalancerFrontends(port: ServicePort, node: NodeInputs): readonly Frontend[] {
  return ownOf(port.loadBalancerVIPs, node).map((address) => {
    const entry = addressPortEntry(address, port.protocol, port.port);
    return {
      kind: 'load-balancer',
      address,
      port: port.port,
      policyLocal: port.externalPolicyLocal,
      bind: !node.ownAddresses.includes(address),
      entries: [
        ['LOAD-BALANCER', entry],
        ...(port.externalPolicyLocal ? [['LOAD-BALANCER-LOCAL', entry] as const] : []),
      ],
      withoutLocal: 'EXTERNAL-NO-LOCAL',
    };
  });
}

function ownOf(addresses: readonly IpAddress[], { otherNodeAddresses }: NodeInputs): readonly IpAddress[] {
  return addresses.filter((address) => !otherNodeAddresses.has(address));
}

function nodePortFrontends(port: ServicePort, node: NodeInputs): readonly Frontend[] {
  const { nodePort, protocol, externalPolicyLocal: policyLocal } = port;
  if (nodePort === undefined) return [];
  return node.nodePortAddresses.map((address) => {
    const set = protocol === 'SCTP' ? 'SCTP-HASH' : protocol;
    const entry = protocol === 'SCTP' ? addressPortEntry(address, protocol, nodePort) : portEntry(nodePort);
    const entries: PartEntry[] = [[`NODE-PORT-${set}`, entry]];
    if (policyLocal) entries.push([`NODE-PORT-LOCAL-${set}`, entry]);
    return {
      kind: 'node-port',
      address,
      port: nodePort,
      policyLocal,
      bind: false,
      entries,
      withoutLocal: 'EXTERNAL-NO-LOCAL',
    };
  });
}
