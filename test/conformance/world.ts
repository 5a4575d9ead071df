import { type JsonRecord, listOf, recordOf } from '../apiserver/api-object.ts';
import { type Asker, askerOf } from './asking.ts';
import type { Cluster } from './cluster.ts';
import { computeSlices, type PodState } from './endpoint-slices.ts';
import { type Addresses, type ServiceView, viewService } from './service-view.ts';

/** What a scenario does with the cluster. Everything it makes is in its own namespace and gone after `cleanUp`. */
export interface World extends Asker {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** Creates a Service for pods `app: web`, whose slices are ours to keep, whatever controllers there are; in a run of both families it has both unless `spec` says otherwise. */
  createService(name: string, spec: JsonRecord, labels?: Readonly<Record<string, string>>): Promise<ServiceView>;
  /** A merge patch of the whole object. */
  patchService(name: string, change: JsonRecord): Promise<ServiceView>;
  removeService(name: string): Promise<void>;
  /** Makes the external addresses those of a load balancer, as its controller does. */
  announce(name: string): Promise<void>;
  /** Takes them away again. */
  announceNothing(name: string): Promise<void>;
  /** Outside the cluster, and no other scenario's; clients outside send to it through node-a. */
  readonly external: Addresses;
  /** What gives a Service the families of the run. */
  readonly familyFields: JsonRecord;
  /** Starts a server on each of these hosts of the lab, under the host's name; a node stands for a pod with the host's network. */
  startPods(hosts: readonly string[], options?: PodOptions): Promise<readonly string[]>;
  /** Changes what the endpoint controller knows of pods; their servers run on. */
  changePods(
    keys: readonly string[],
    change: Partial<Pick<PodState, 'ready' | 'terminating' | 'labels'>>,
  ): Promise<void>;
  /** Ends the servers, and then their endpoints. */
  removePods(keys: readonly string[]): Promise<void>;
  /** Ends the servers only. */
  stopServers(keys: readonly string[]): Promise<void>;
  /** The port that pods serve unless told otherwise; no other scenario has it. */
  readonly podPort: number;
  /** A node port that is asked for by nobody else, and far from those that the API server gives out first. */
  readonly ownNodePort: number;
  /** Writes or replaces an EndpointSlice by hand. */
  writeSlice(name: string, slice: JsonRecord): Promise<void>;
  cleanUp(): Promise<void>;
}

export interface PodOptions {
  /** Default: `app: web`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Added to the scenario's first port, 0–9. */
  readonly offset?: number;
  readonly ready?: boolean;
  /** Named ports, as offsets. The pod serves all of them. */
  readonly named?: Readonly<Record<string, number>>;
}

interface Pod extends PodState {
  readonly served: readonly number[];
}

/** `number` is the scenario's own, 1–250: its ports and external addresses come from it. */
export function createWorld(cluster: Cluster, number: number): World {
  const namespace = `e2e-${number}`;
  const { api, lab, traffic, families } = cluster;
  const services = `/api/v1/namespaces/${namespace}/services`;
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  const pods = new Map<string, Pod>();
  const known = new Map<string, JsonRecord>();
  const written = new Map<string, string>();
  const firstPort = 12_000 + number * 10;
  const external: Addresses = Object.fromEntries(
    families.map((family) => [family, family === 'IPv4' ? `203.0.113.${number}` : `fd00:203::${number}`]),
  );
  const familyFields = { ipFamilies: families, ipFamilyPolicy: POLICY[cluster.mode] };

  async function reconcile(): Promise<void> {
    const wanted = [...known.values()].flatMap((service) => computeSlices(service, [...pods.values()], families));
    const names = new Set(wanted.map(nameOf));
    const stale = [...written.keys()].filter((name) => !names.has(name) && !name.startsWith(BY_HAND));
    await Promise.all([...wanted.map((slice) => write(nameOf(slice), slice)), ...stale.map(drop)]);
  }
  async function write(name: string, slice: JsonRecord): Promise<void> {
    const text = JSON.stringify(slice);
    if (written.get(name) === text) return;
    const isNew = !written.has(name);
    written.set(name, text);
    if (isNew) await api.create(slices, slice);
    else await api.patch(`${slices}/${name}`, slice);
  }
  async function drop(name: string): Promise<void> {
    written.delete(name);
    await api.remove(`${slices}/${name}`);
  }
  async function keep(name: string, service: JsonRecord, selector: unknown): Promise<ServiceView> {
    known.set(name, { ...service, spec: { ...recordOf(service.spec), selector } });
    await reconcile();
    return viewService(service);
  }
  async function makeNamespace(): Promise<void> {
    if ((await api.find(`/api/v1/namespaces/${namespace}`)) !== undefined) return;
    await api.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  }
  async function writeIngress(name: string, ingress: readonly JsonRecord[] | null): Promise<void> {
    await api.patch(`${services}/${name}/status`, { status: { loadBalancer: { ingress } } });
  }
  async function stopServers(keys: readonly string[]): Promise<void> {
    await Promise.all(keys.map((key) => traffic.stopServing(podOf(key).host, key)));
  }
  function podOf(key: string): Pod {
    const pod = pods.get(key);
    if (pod === undefined) throw new Error(`there is no pod ${key}`);
    return pod;
  }

  return {
    ...askerOf(cluster),
    cluster,
    namespace,
    podPort: firstPort,
    ownNodePort: 32_000 + number,
    external,
    familyFields,
    createService: async (name, spec, labels = {}) => {
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace, name, labels },
        spec: {
          selector: { app: 'web' },
          ...(spec.type === 'ExternalName' ? {} : familyFields),
          ...spec,
          ...(spec.ports === undefined ? {} : { ports: portsOf(spec.ports, firstPort) }),
        },
      };
      await makeNamespace();
      const sent = cluster.hasControllers ? { ...service, spec: { ...service.spec, selector: undefined } } : service;
      return keep(name, await api.create(services, sent), recordOf(service.spec).selector);
    },
    patchService: async (name, change) => {
      const spec = recordOf(change.spec);
      const ports = spec.ports === undefined ? {} : { ports: portsOf(spec.ports, firstPort) };
      const sent = change.spec === undefined ? change : { ...change, spec: { ...spec, ...ports } };
      const { selector } = recordOf(known.get(name)?.spec);
      return keep(name, await api.patch(`${services}/${name}`, sent), selector);
    },
    removeService: async (name) => {
      known.delete(name);
      await api.remove(`${services}/${name}`);
      await reconcile();
    },
    announce: (name) =>
      writeIngress(
        name,
        Object.values(external).map((ip) => ({ ip })),
      ),
    announceNothing: (name) => writeIngress(name, null),
    startPods: async (hosts, { labels = { app: 'web' }, offset = 0, ready = true, named = {} } = {}) => {
      const served = [firstPort + offset, ...Object.values(named).map((each) => firstPort + each)];
      const ports = Object.fromEntries(Object.entries(named).map(([name, each]) => [name, firstPort + each]));
      const started = hosts.map((host): [string, Pod] => {
        const { addresses, node = host, zone = '' } = hostOf(host);
        const key = `${host}/${firstPort + offset}`;
        return [key, { host, addresses, node, zone, labels, ready, terminating: false, ports, served }];
      });
      await Promise.all(
        started.flatMap(([key, { host }]) => [...new Set(served)].map((port) => traffic.serve(host, key, port))),
      );
      for (const [key, pod] of started) pods.set(key, pod);
      await reconcile();
      return started.map(([key]) => key);
    },
    changePods: async (keys, change) => {
      for (const key of keys) pods.set(key, { ...podOf(key), ...change });
      await reconcile();
    },
    removePods: async (keys) => {
      await stopServers(keys);
      for (const key of keys) pods.delete(key);
      await reconcile();
    },
    stopServers,
    writeSlice: async (name, slice) => {
      const metadata = { ...recordOf(slice.metadata), namespace, name: `${BY_HAND}${name}` };
      const complete = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...slice, metadata };
      await write(metadata.name, complete);
    },
    cleanUp: async () => {
      await Promise.all([...known.keys()].map((name) => api.remove(`${services}/${name}`)));
      await Promise.all([...written.keys()].map(drop));
      await stopServers([...pods.keys()]);
    },
  };

  function hostOf(name: string) {
    return name.startsWith('node-') ? lab.node(name) : lab.pod(name);
  }
}

const BY_HAND = 'by-hand-';
const POLICY = { ipv4: 'SingleStack', ipv6: 'SingleStack', dual: 'RequireDualStack' } as const;

function nameOf(object: JsonRecord): string {
  return String(recordOf(object.metadata).name);
}

/** A numeric target port below 10 is an offset to the scenario's first port, which is the default. */
function portsOf(ports: unknown, firstPort: number): readonly JsonRecord[] {
  return listOf(ports)
    .map(recordOf)
    .map((port) => {
      const { targetPort = 0 } = port;
      return { ...port, targetPort: typeof targetPort === 'number' ? firstPort + targetPort : targetPort };
    });
}
