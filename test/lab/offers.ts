import { FAMILIES, type Family } from '../../src/net/family.ts';
import type { ServiceSketch } from './objects.ts';
import { POD_PORT } from './standard-plan.ts';
import type { LabHost } from './topology.ts';

/** A dual-stack Service on port 80 of every protocol, with the pods behind it. Its number goes into all of its addresses. */
export interface Offer {
  readonly name: string;
  /** 1–254. */
  readonly number: number;
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  /** Pods of the lab by name. */
  readonly pods: readonly string[];
  /** Whether it asks for its external addresses as external IPs; a load balancer announces them unasked. */
  readonly hasExternalIPs?: boolean;
  /** Policies, affinity, source ranges. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The port that clients dial at every address but the nodes' own. */
export const SERVICE_PORT = 80;

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;
const FLAGS = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' } as const;

export function clusterAddress({ number }: Offer, family: Family): string {
  return family === 'IPv4' ? `10.96.0.${number}` : `fd00:96::${number}`;
}

/** The external IP or load balancer address, inside the prefixes that the lab's client sends to node-a. */
export function externalAddress({ number }: Offer, family: Family): string {
  return family === 'IPv4' ? `203.0.113.${number}` : `fd00:203::${number}`;
}

/** The same for all protocols. */
export function nodePort({ number }: Offer): number {
  return 30_000 + number;
}

/** What the API server is given. */
export function sketchOf(offer: Offer): ServiceSketch {
  const { name, type, hasExternalIPs, spec } = offer;
  const port = { port: SERVICE_PORT, ...(type === 'ClusterIP' ? {} : { nodePort: nodePort(offer) }) };
  return {
    name,
    type,
    clusterIPs: FAMILIES.map((family) => clusterAddress(offer, family)),
    ports: PROTOCOLS.map((protocol) => ({ name: protocol.toLowerCase(), protocol, ...port })),
    spec: {
      ...(hasExternalIPs ? { externalIPs: FAMILIES.map((family) => externalAddress(offer, family)) } : {}),
      ...spec,
    },
  };
}

/** Addresses that a node binds for it. */
export function addressesOf(offer: Offer): readonly string[] {
  const external = offer.hasExternalIPs === true || offer.type === 'LoadBalancer';
  return FAMILIES.flatMap((family) => [
    clusterAddress(offer, family),
    ...(external ? [externalAddress(offer, family)] : []),
  ]);
}

/**
 * Lines of `ipvsadm -Sn` that a node holds for it, sorted. External policy Local falls back to all pods where the node has none,
 * internal policy Local does not.
 */
export function linesOf(offer: Offer, node: LabHost, pods: readonly LabHost[]): readonly string[] {
  const local = pods.filter((pod) => pod.node === node.name);
  const { internalTrafficPolicy, externalTrafficPolicy } = offer.spec ?? {};
  const internal = internalTrafficPolicy === 'Local' ? local : pods;
  const external = externalTrafficPolicy === 'Local' && local.length > 0 ? local : pods;
  return FAMILIES.flatMap((family) =>
    frontendsOf(offer, node, family).flatMap(({ kind, address, port }) => {
      const real = (pod: LabHost) => addressPort(pod.addresses[family], POD_PORT);
      return serverLines(
        addressPort(address, port),
        (kind === 'cluster' ? internal : external).map(real),
        affinity(offer),
      );
    }),
  ).sort();
}

interface Frontend {
  readonly kind: 'cluster' | 'external';
  readonly address: string;
  readonly port: number;
}

function frontendsOf(offer: Offer, node: LabHost, family: Family): readonly Frontend[] {
  const [cluster, external] = [clusterAddress(offer, family), externalAddress(offer, family)];
  const ofNode = { kind: 'external', address: node.addresses[family], port: nodePort(offer) } as const;
  return [
    { kind: 'cluster', address: cluster, port: SERVICE_PORT },
    ...(addressesOf(offer).includes(external)
      ? [{ kind: 'external', address: external, port: SERVICE_PORT } as const]
      : []),
    ...(offer.type === 'ClusterIP' ? [] : [ofNode]),
  ];
}

function affinity({ spec }: Offer): string {
  if (spec?.sessionAffinity !== 'ClientIP') return '';
  const { clientIP } = spec.sessionAffinityConfig as { readonly clientIP: { readonly timeoutSeconds: number } };
  return ` -p ${clientIP.timeoutSeconds}`;
}

function serverLines(server: string, reals: readonly string[], options: string): readonly string[] {
  return PROTOCOLS.flatMap((protocol) => [
    `-A ${FLAGS[protocol]} ${server} -s rr${options}`,
    ...reals.map((real) => `-a ${FLAGS[protocol]} ${server} -r ${real} -m -w 1`),
  ]);
}

function addressPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
