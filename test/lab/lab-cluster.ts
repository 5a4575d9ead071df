import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FAMILIES } from '../../src/net/family.ts';
import { callApi } from '../apiserver/call-api.ts';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import type { Daemon } from './daemon.ts';
import { readBoundAddresses, readVirtualServers } from './kernel-state.ts';
import { NAMESPACE, node, service, slice } from './objects.ts';
import { addressesOf, externalAddress, linesOf, type Offer, sketchOf } from './offers.ts';
import { startProxier } from './proxier-daemon.ts';
import { type SharedLab, useLab } from './shared-lab.ts';
import { POD_PORT } from './standard-plan.ts';
import { type LabHost, podRanges } from './topology.ts';
import { waitFor } from './wait-for.ts';

/** The shared lab with an API server and `ipvs-proxier run` on every node. */
export interface LabCluster extends SharedLab {
  readonly api: ApiServer;
  /** By the node's name. */
  readonly daemons: ReadonlyMap<string, Daemon>;
  /** Writes Services with their slices, and then the status of load balancers; what was written before is replaced. */
  apply(...offers: readonly Offer[]): Promise<void>;
  remove(...offers: readonly Offer[]): void;
  /** Resolves when every node has all of them in its kernel, and nothing else at their frontends that takes new connections. */
  programmed(...offers: readonly Offer[]): Promise<void>;
  /** `apply`, then `programmed`. */
  offer(...offers: readonly Offer[]): Promise<void>;
  /** Resolves with the virtual servers of a node when `isDone` accepts them. */
  virtualServers(node: string, isDone: (lines: readonly string[]) => boolean): Promise<readonly string[]>;
  /** Resolves with the addresses bound on a node when `isDone` accepts them. */
  bound(node: string, isDone: (addresses: readonly string[]) => boolean): Promise<readonly string[]>;
}

/** Pods of the lab are told from outside clients by these. */
const FLAGS = ['--cluster-cidr', '10.180.0.0/16,fd00:180::/32', '--ipvs-min-sync-period', '100ms'];

/** Call in a `describe`, as `useLab`. `flagsOf` gives the flags that a node's daemon has beside those of every daemon. */
export function useLabCluster(flagsOf: (node: string) => readonly string[] = () => []): () => LabCluster {
  const shared = useLab();
  let cluster: LabCluster | undefined;
  before('an API server and a daemon on each node', async () => {
    cluster = await startCluster(shared(), flagsOf);
  });
  after('the daemons and the API server', async () => {
    await Promise.all([...(cluster?.daemons.values() ?? [])].map((daemon) => daemon.stop()));
    await cluster?.api.stop();
  });
  return () => {
    if (cluster === undefined) throw new Error('the cluster is there in hooks and tests only');
    return cluster;
  };
}

async function startCluster(shared: SharedLab, flagsOf: (node: string) => readonly string[]): Promise<LabCluster> {
  const { lab } = shared;
  const api = await startApiServer({ addresses: ['192.168.0.1'], certificateAddresses: ['192.168.0.1'] });
  for (const host of lab.nodes) {
    const { name, addresses, zone } = host;
    api.apply(node(name, [addresses.IPv4, addresses.IPv6], zone, podRanges(host)));
  }
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-lab-'));
  const start = ({ name }: LabHost): [string, Daemon] => {
    return [name, startProxier(lab, name, api.kubeconfig(), folder, [...FLAGS, ...flagsOf(name)])];
  };

  const virtualServers: LabCluster['virtualServers'] = (name, isDone) =>
    waitFor(`virtual servers of ${name}`, () => readVirtualServers(lab, name), isDone, PATIENCE);
  const bound: LabCluster['bound'] = (name, isDone) =>
    waitFor(
      `bound addresses of ${name}`,
      async () => withoutLengths((await readBoundAddresses(lab, name)) ?? []),
      isDone,
      PATIENCE,
    );
  const apply: LabCluster['apply'] = async (...offers) => {
    for (const offer of offers) {
      const status = api.get({ kind: 'Service', namespace: NAMESPACE, name: offer.name })?.status;
      api.apply({ ...service(sketchOf(offer)), ...(status === undefined ? {} : { status }) });
      for (const family of FAMILIES) {
        const pods = offer.pods.map((name) => lab.pod(name));
        const endpoints = pods.map((pod) => ({ address: pod.addresses[family], nodeName: pod.node ?? '' }));
        api.apply(slice(sketchOf(offer), POD_PORT, endpoints, family));
      }
    }
    await Promise.all(offers.filter(({ type }) => type === 'LoadBalancer').map((offer) => announce(api, offer)));
  };
  const programmed: LabCluster['programmed'] = async (...offers) => {
    for (const host of lab.nodes) {
      const pods = (offer: Offer) => offer.pods.map((name) => lab.pod(name));
      const wanted = offers.flatMap((offer) => linesOf(offer, host, pods(offer))).sort();
      const difference = async () => differenceTo(wanted, await readVirtualServers(lab, host.name));
      await waitFor(
        `${host.name} programmed`,
        difference,
        ({ missing, surplus }) => missing.length + surplus.length === 0,
        PATIENCE,
      );
      const addresses = offers.flatMap(addressesOf);
      await bound(host.name, (there) => addresses.every((address) => there.includes(address)));
    }
  };

  return {
    ...shared,
    api,
    daemons: new Map(lab.nodes.map(start)),
    apply,
    remove: (...offers) => {
      for (const { name } of offers) {
        api.delete({ kind: 'Service', namespace: NAMESPACE, name });
        for (const family of ['ipv4', 'ipv6']) {
          api.delete({ kind: 'EndpointSlice', namespace: NAMESPACE, name: `${name}-${family}` });
        }
      }
    },
    programmed,
    offer: async (...offers) => {
      await apply(...offers);
      await programmed(...offers);
    },
    virtualServers,
    bound,
  };
}

/** A look costs about what a step of a pass does. */
const PATIENCE = { timeoutMs: 240_000, everyMs: 300 };

/** Writes the status as a load balancer's controller does. */
async function announce(api: ApiServer, offer: Offer): Promise<void> {
  const { status } = await callApi(api, {
    method: 'PATCH',
    path: `/api/v1/namespaces/${NAMESPACE}/services/${offer.name}/status`,
    headers: { 'Content-Type': 'application/merge-patch+json' },
    body: {
      status: { loadBalancer: { ingress: FAMILIES.map((family) => ({ ip: externalAddress(offer, family) })) } },
    },
  });
  expect(status, `status of ${offer.name}`).to.equal(200);
}

interface Difference {
  readonly missing: readonly string[];
  readonly surplus: readonly string[];
}

/** At the virtual servers that are wanted; real servers that only keep connections do not count. */
function differenceTo(wanted: readonly string[], lines: readonly string[]): Difference {
  const servers = new Set(wanted.map(serverOf));
  const there = lines.filter((line) => servers.has(serverOf(line)) && !line.endsWith(' -w 0'));
  return {
    missing: wanted.filter((line) => !there.includes(line)),
    surplus: there.filter((line) => !wanted.includes(line)),
  };
}

/** Protocol flag and address of a line. */
function serverOf(line: string): string {
  return line.split(' ').slice(1, 3).join(' ');
}

function withoutLengths(addresses: readonly string[]): readonly string[] {
  return addresses.map((address) => address.slice(0, address.indexOf('/')));
}
