import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import type { Family } from '../../src/net/family.ts';
import { type JsonRecord, listOf, recordOf } from '../../test/apiserver/api-object.ts';
import { createApiClient } from '../../test/conformance/api-client.ts';
import type { Cluster } from '../../test/conformance/cluster.ts';
import { FAMILIES_OF, type FamilyMode, planOf } from '../../test/conformance/plan.ts';
import type { LabHost } from '../../test/lab/topology.ts';
import { type Helper, startHelper, TRAFFIC_HELPER, trafficThrough } from '../../test/lab/traffic.ts';

/** Its Python runs the traffic helper: in every pod, and in containers beside the nodes that play clients outside. */
const IMAGE = process.env.E2E_IMAGE ?? 'python:3.13-alpine';
const NAMESPACE = 'ipvs-proxier-e2e';
const ENGINE = 'docker';

export interface KindCluster extends Cluster {
  stop(): Promise<void>;
}

/**
 * A running kind cluster, kubectl's current one, in the terms of the lab: its first three workers are node-a, node-b and node-c,
 * with pods of the lab's names on them, and clients are containers on kind's network. Rejects when a part cannot be made.
 */
export async function startKindCluster(mode: FamilyMode, folder: string): Promise<KindCluster> {
  const families = FAMILIES_OF[mode];
  const plan = planOf(mode);
  const workers = await findWorkers(plan.nodes.length);
  const nodes = plan.nodes.map(({ name, zone = '' }, index): Worker => {
    const worker = workers[index] ?? {};
    return { name, zone, realName: String(recordOf(worker.metadata).name), addresses: internalAddresses(worker) };
  });
  for (const { realName, zone } of nodes) {
    await kubectl(['label', '--overwrite', 'node', realName, `topology.kubernetes.io/zone=${zone}`]);
  }
  const asked = plan.nodes.flatMap(({ pods }, index) => {
    const node = nodes[index] as Worker;
    return [podObject(node.name, node, true), ...pods.map(({ name }) => podObject(name, node, false))];
  });
  const items = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, ...asked];
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await kubectl(['-n', NAMESPACE, 'wait', '--for=condition=Ready', 'pod', '--all', '--timeout=180s']);
  const pods = listOf((await kubectlJson(['-n', NAMESPACE, 'get', 'pods'])).items).map(recordOf);

  const hosts = new Map<string, LabHost>();
  for (const { name, addresses, zone } of nodes)
    hosts.set(name, { name, kind: 'node', namespace: name, addresses, zone });
  for (const pod of pods.filter((each) => recordOf(each.spec).hostNetwork !== true)) {
    const name = String(recordOf(pod.metadata).name);
    const on = nodes.find(({ realName }) => realName === recordOf(pod.spec).nodeName);
    const addresses = byFamily(listOf(recordOf(pod.status).podIPs).map((each) => String(recordOf(each).ip)));
    hosts.set(name, { name, kind: 'pod', namespace: name, addresses, node: on?.name ?? '', zone: on?.zone ?? '' });
  }
  for (const { name } of plan.clients) hosts.set(name, await startClient(name, families, nodes[0] as Worker));

  const code = readFileSync(TRAFFIC_HELPER, 'utf8');
  const helpers = new Map<string, Helper>();
  const helperOf = (name: string): Helper => {
    const command = hosts.get(name)?.kind === 'client' ? ENGINE : 'kubectl';
    const into = command === ENGINE ? ['exec', '-i', clientName(name)] : ['-n', NAMESPACE, 'exec', '-i', name, '--'];
    const helper = helpers.get(name) ?? startHelper(command, [...into, 'python3', '-c', code]);
    helpers.set(name, helper);
    return helper;
  };
  const endHelpers = async () => {
    await Promise.all([...helpers.values()].map((helper) => helper.end()));
  };
  const proxy = await startApiProxy();
  const api = createApiClient(() => ({ url: proxy.url, ca: undefined }));
  const realNameOf = (name: string) => nodes.find((node) => node.name === name)?.realName ?? name;
  const run: Cluster['lab']['run'] = async (name, command, args = [], { input = '' } = {}) => {
    const line = ['exec', '-i', realNameOf(name), command, ...args];
    const { stdout, stderr, exitCode = 128 } = await execa(ENGINE, line, { input, reject: false });
    return { stdout, stderr, exitCode };
  };
  const find = (kind: LabHost['kind'], name: string): LabHost => {
    const host = hosts.get(name);
    if (host?.kind !== kind) throw new Error(`the cluster has no ${kind} ${name}`);
    return host;
  };
  const all = (kind: LabHost['kind']) => [...hosts.values()].filter((host) => host.kind === kind);
  return {
    ...{ mode, families, folder, api },
    patienceMs: 60_000,
    hasControllers: true,
    control: undefined,
    lab: {
      nodes: all('node'),
      pods: all('pod'),
      node: (name) => find('node', name),
      pod: (name) => find('pod', name),
      client: (name = 'client') => find('client', name),
      run,
      output: async (name, command, args, options) => {
        const { stdout, stderr, exitCode } = await run(name, command, args, options);
        if (exitCode !== 0) throw new Error(`on ${name}: ${command}: status ${exitCode}\n${stderr}`);
        return stdout;
      },
    },
    traffic: trafficThrough((name) => ({ helper: helperOf(name), namespace: 'root' }), endHelpers),
    readLog: (name) => readLog(realNameOf(name)),
    stop: async () => {
      api.close();
      proxy.stop();
      await endHelpers();
      await kubectl(['delete', 'namespace', NAMESPACE, '--wait=false']);
      for (const { name } of plan.clients) await execa(ENGINE, ['rm', '-f', clientName(name)]);
    },
  };
}

interface Worker {
  /** As the lab calls it, and as kind does. */
  readonly name: string;
  readonly realName: string;
  readonly zone: string;
  readonly addresses: Readonly<Record<Family, string>>;
}

async function findWorkers(count: number): Promise<readonly JsonRecord[]> {
  const list = await kubectlJson(['get', 'nodes', '-l', '!node-role.kubernetes.io/control-plane']);
  const workers = listOf(list.items).map(recordOf);
  if (workers.length < count) throw new Error(`the cluster has ${workers.length} workers, and ${count} are needed`);
  return workers.slice(0, count);
}

function internalAddresses(node: JsonRecord): Readonly<Record<Family, string>> {
  const addresses = listOf(recordOf(node.status).addresses).map(recordOf);
  return byFamily(addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => String(address)));
}

function byFamily(addresses: readonly string[]): Readonly<Record<Family, string>> {
  const find = (isWanted: (address: string) => boolean) => addresses.find(isWanted) ?? '';
  return { IPv4: find((address) => !address.includes(':')), IPv6: find((address) => address.includes(':')) };
}

function podObject(name: string, { realName }: Worker, hostNetwork: boolean): JsonRecord {
  const container = { name: 'python', image: IMAGE, command: ['sleep', 'infinity'] };
  const spec = { nodeName: realName, hostNetwork, terminationGracePeriodSeconds: 0, containers: [container] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: NAMESPACE, name }, spec };
}

/** A container on kind's network that sends external addresses to the first node. */
async function startClient(name: string, families: readonly Family[], via: Worker): Promise<LabHost> {
  await execa(ENGINE, ['rm', '-f', clientName(name)], { reject: false });
  const options = ['--network', 'kind', '--cap-add', 'NET_ADMIN', '--name', clientName(name)];
  await execa(ENGINE, ['run', '-d', ...options, IMAGE, 'sleep', 'infinity']);
  const prefixes = { IPv4: '203.0.113.0/24', IPv6: 'fd00:203::/64' } as const;
  for (const family of families) {
    const route = ['ip', 'route', 'add', prefixes[family], 'via', via.addresses[family]];
    await execa(ENGINE, ['exec', clientName(name), ...route]);
  }
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{.GlobalIPv6Address}}{{end}}';
  const { stdout } = await execa(ENGINE, ['inspect', '-f', format, clientName(name)]);
  return {
    name,
    kind: 'client',
    namespace: name,
    addresses: byFamily(stdout.split(' ').filter((each) => each !== '')),
  };
}

function clientName(name: string): string {
  return `ipvs-proxier-e2e-${name}`;
}

/** `kubectl proxy` on a port of its choice. */
async function startApiProxy(): Promise<{ readonly url: string; stop(): void }> {
  const started = execa('kubectl', ['proxy', '--port=0'], { reject: false, buffer: false });
  for await (const line of createInterface({ input: started.stdout })) {
    const [, address] = /Starting to serve on (\S+)/.exec(line) ?? [];
    if (address !== undefined) return { url: `http://${address}`, stop: () => void started.kill() };
  }
  throw new Error('kubectl proxy has ended');
}

/** Of the program's pod on a node, which has kube-proxy's label. */
async function readLog(realName: string): Promise<string> {
  const where = ['-n', 'kube-system', 'get', 'pods', '-l', 'k8s-app=kube-proxy', '--field-selector'];
  const list = await kubectlJson([...where, `spec.nodeName=${realName}`]);
  const names = listOf(list.items).map((pod) => String(recordOf(recordOf(pod).metadata).name));
  const logs = names.map((name) => kubectl(['-n', 'kube-system', 'logs', name]));
  return (await Promise.all(logs)).join('');
}

async function kubectl(args: readonly string[], input = ''): Promise<string> {
  return (await execa('kubectl', args, { input })).stdout;
}

async function kubectlJson(args: readonly string[]): Promise<JsonRecord> {
  return recordOf(JSON.parse(await kubectl([...args, '-o', 'json'])));
}
