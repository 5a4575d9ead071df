import type { Desired } from '../desired/desired.ts';
import type { PartEntry } from '../desired/frontends.ts';
import { listFor } from '../desired/real-servers.ts';
import type { FrontPart, ServicePart } from '../desired/service-part.ts';
import type { Behaviour } from '../desired/settings.ts';
import { setName } from '../kernel/ipset/definitions.ts';
import { addressEntry } from '../kernel/ipset/state.ts';
import { realServerKey, type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServicePortKey } from '../model/names.ts';
import type { ServicePort } from '../model/service-port.ts';
import type { Selections } from '../topology/choose-endpoints.ts';
import { type Client, clientsOf } from './client.ts';
import { followPacket, type PacketWay } from './packet.ts';

/** One virtual server that a service port asks for. */
export interface ServerExplanation {
  readonly virtualServer: VirtualServerKey;
  readonly from: FrontPart['kind'];
  /** Field of the Service that asks for it. */
  readonly field: string;
  /** The service port that has it: another one where two claim it. */
  readonly owner: ServicePortKey;
  readonly policy: 'Cluster' | 'Local';
  /** Which endpoints stand behind it; `cluster` under policy Local: there is no local one, and all stand in. */
  readonly endpointsOf: 'cluster' | 'local';
  readonly scheduler: string;
  readonly schedulerFlags: readonly string[];
  readonly persistenceSeconds: number;
  readonly realServers: readonly { readonly endpoint: string; readonly weight: number }[];
  /** Its address is bound on kube-ipvs0; else it is one of the node's own. */
  readonly bound: boolean;
  readonly sets: readonly { readonly set: string; readonly entry: string }[];
  /** The first packet of a connection, for one client of each kind; none where another service port has it. */
  readonly packets: readonly (Pick<Client, 'who' | 'source'> & PacketWay)[];
}

export interface ServerInputs {
  readonly part: ServicePart;
  readonly selections: Selections;
  readonly desired: Desired;
  readonly behaviour: Behaviour;
}

export function explainServer(front: FrontPart, inputs: ServerInputs): ServerExplanation {
  const { part, selections, desired, behaviour } = inputs;
  const { server, kind } = front;
  const key = virtualServerKey(server);
  const owner = desired.owners.get(key)?.part.port.key ?? part.port.key;
  const policyLocal = kind === 'cluster' ? part.port.internalPolicyLocal : part.port.externalPolicyLocal;
  const local = selections.local?.chosen;
  return {
    virtualServer: key,
    from: kind,
    field: FIELDS[kind],
    owner,
    policy: policyLocal ? 'Local' : 'Cluster',
    endpointsOf: listFor({ kind, policyLocal }, { local }, behaviour),
    scheduler: server.scheduler,
    schedulerFlags: server.schedulerFlags ?? [],
    persistenceSeconds: server.persistenceSeconds,
    realServers: server.realServers
      .map((real) => ({ endpoint: realServerKey(real), weight: real.weight }))
      .sort((a, b) => (a.endpoint < b.endpoint ? -1 : 1)),
    bound: front.bind,
    sets: setsOf(front, desired),
    packets: owner === part.port.key ? packetsTo(front, part.port, inputs) : [],
  };
}

const FIELDS: Readonly<Record<FrontPart['kind'], string>> = {
  cluster: 'spec.clusterIPs',
  external: 'spec.externalIPs',
  'load-balancer': 'status.loadBalancer.ingress',
  'node-port': 'spec.ports[].nodePort',
};

/** Entries that are wanted; kube-proxy's behaviour knows fewer sets. */
function setsOf({ entries, bind, server }: FrontPart, { kernel }: Desired): ServerExplanation['sets'] {
  const guard: readonly PartEntry[] = bind ? [['IPVS-IPS', addressEntry(server.address)]] : [];
  return [...entries, ...guard]
    .map(([id, entry]) => ({ set: setName(id, kernel.family), entry }))
    .filter(({ set, entry }) => kernel.sets.get(set)?.entries.has(entry) === true);
}

function packetsTo(
  { kind, server }: FrontPart,
  port: ServicePort,
  { part, desired }: ServerInputs,
): ServerExplanation['packets'] {
  const sourceRanges = kind === 'load-balancer' ? port.loadBalancerSourceRanges : [];
  const surroundings = { rules: desired.rules, endpoints: part.endpoints, sourceRanges };
  const state = { rules: desired.rules, sets: desired.kernel.sets };
  return clientsOf(server.address, surroundings).map((client) => ({
    who: client.who,
    source: client.source,
    ...followPacket(client, server, state),
  }));
}
