/** The demonstration; runs inside hack/lab.sh. Its steps in order, each told of before it begins. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from '../../test/apiserver/server.ts';
import type { Daemon } from '../../test/lab/daemon.ts';
import { buildLab } from '../../test/lab/lab.ts';
import { node, type ServiceSketch, service, slice } from '../../test/lab/objects.ts';
import { startProxier } from '../../test/lab/proxier-daemon.ts';
import { POD_PORT, STANDARD_PLAN } from '../../test/lab/standard-plan.ts';
import { startTraffic } from '../../test/lab/traffic.ts';
import { waitFor } from '../../test/lab/wait-for.ts';
import { waitProgrammed } from './programmed.ts';
import { type Destination, sendRequests, type Tally } from './requests.ts';
import { formatTable } from './table.ts';

const WEB: ServiceSketch = {
  name: 'web',
  type: 'NodePort',
  clusterIPs: ['10.96.0.10', 'fd00:96::10'],
  ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }],
};
const ECHO: ServiceSketch = {
  name: 'echo',
  type: 'NodePort',
  clusterIPs: ['10.96.0.53', 'fd00:96::53'],
  ports: [{ name: 'echo', protocol: 'UDP', port: 53, nodePort: 30053 }],
};
const FLAGS = [
  '--cluster-cidr',
  '10.180.0.0/16,fd00:180::/32',
  '--ipvs-min-sync-period',
  '0s',
  '--logging-format',
  'json',
];

const tell = (text: string) => process.stdout.write(`\n${text}\n`);

tell('1. Two nodes with two pods each and a client outside, as network namespaces of one kernel');
const lab = await buildLab(STANDARD_PLAN);
const traffic = startTraffic();
const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-demo-'));
for (const pod of lab.pods) await traffic.serve(pod.namespace, pod.name, POD_PORT);
process.stdout.write(
  formatTable([
    ['NAME', 'KIND', 'IPV4', 'IPV6'],
    ...[...lab.nodes, ...lab.pods, lab.client()].map(({ name, kind, addresses }) => [
      name,
      kind,
      addresses.IPv4,
      addresses.IPv6,
    ]),
  ]),
);

tell('2. An API server, and `ipvs-proxier run` on each node');
const api = await startApiServer({ addresses: ['192.168.0.1'], certificateAddresses: ['192.168.0.1'] });
for (const { name, addresses, zone } of lab.nodes) api.apply(node(name, [addresses.IPv4, addresses.IPv6], zone));
const daemons = new Map<string, Daemon>();
const changes: string[][] = [['CHANGE', ...lab.nodes.map(({ name }) => name)]];
const tallies: Tally[] = [];

/** Makes a change and waits until both nodes have it in their kernel: these pods, and no others, take new connections. */
async function change(what: string, pods: readonly string[] | undefined, make: () => void): Promise<void> {
  const sinceMs = Date.now();
  make();
  const wanted = pods?.flatMap((name) => Object.values(lab.pod(name).addresses));
  const waits = [...daemons].map(([name, daemon]) => waitProgrammed(lab, name, daemon, sinceMs, wanted));
  changes.push([what, ...(await Promise.all(waits)).map((ms) => `${Math.round(ms)} ms`)]);
}

/** Makes these pods the endpoints of both Services. */
function serve(...names: readonly string[]): void {
  const pods = names.map((name) => lab.pod(name));
  for (const family of ['IPv4', 'IPv6'] as const) {
    const endpoints = pods.map((pod) => ({ address: pod.addresses[family], nodeName: pod.node ?? '' }));
    for (const sketch of [WEB, ECHO]) api.apply(slice(sketch, POD_PORT, endpoints, family));
  }
}

/** The first pass has made sets and rules. */
function hasProgrammed(log: string): boolean {
  return log.includes('"node programmed"');
}

async function request(...rightPods: readonly string[]): Promise<void> {
  const nodeA = lab.node('node-a').addresses;
  const inside: Destination[] = [
    { label: 'web, cluster address', protocol: 'http', address: '10.96.0.10', port: 80 },
    { label: 'web, cluster address, IPv6', protocol: 'http', address: 'fd00:96::10', port: 80 },
    { label: 'echo, cluster address', protocol: 'udp', address: '10.96.0.53', port: 53 },
  ];
  const outside: Destination[] = [
    { label: 'web, node port of node-a', protocol: 'http', address: nodeA.IPv4, port: 30080 },
    { label: 'web, node port of node-a, IPv6', protocol: 'http', address: nodeA.IPv6, port: 30080 },
    { label: 'echo, node port of node-b', protocol: 'udp', address: lab.node('node-b').addresses.IPv4, port: 30053 },
  ];
  tallies.push(await sendRequests(traffic, [lab.pod('a2'), lab.node('node-b')], inside, rightPods));
  tallies.push(await sendRequests(traffic, [lab.client()], outside, rightPods));
}

try {
  for (const { name } of lab.nodes) daemons.set(name, startProxier(lab, name, api.kubeconfig(), folder, FLAGS));
  for (const [name, daemon] of daemons)
    await waitFor(`${name} to run`, () => daemon.log(), hasProgrammed, { timeoutMs: 60_000 });
  await change('Services web (HTTP) and echo (UDP), no endpoints', [], () => {
    api.apply(service(WEB));
    api.apply(service(ECHO));
  });
  await change('pods a1 and b1 are ready', ['a1', 'b1'], () => serve('a1', 'b1'));

  tell('3. What the kernel of node-a has now (ipvsadm -Ln)');
  process.stdout.write(await lab.output('node-a', 'ipvsadm', ['-Ln']));

  tell('4. Requests to a1 and b1');
  await request('a1', 'b1');

  tell('5. Scaled up to four pods');
  await change('scaled up to four pods', ['a1', 'a2', 'b1', 'b2'], () => serve('a1', 'a2', 'b1', 'b2'));
  await request('a1', 'a2', 'b1', 'b2');

  tell('6. Scaled down to b2; the other pods are gone');
  await change('scaled down to one pod', ['b2'], () => serve('b2'));
  for (const name of ['a1', 'a2', 'b1']) await traffic.stopServing(lab.pod(name).namespace, name);
  await request('b2');

  tell('7. Both Services deleted');
  await change('Services deleted', undefined, () => {
    for (const name of ['web', 'echo']) api.delete({ kind: 'Service', namespace: 'shop', name });
  });
} finally {
  for (const [name, daemon] of daemons) {
    const exit = await daemon.stop();
    if (!('exitCode' in exit) || exit.exitCode !== 0) {
      process.stdout.write(`${name} ended with ${JSON.stringify(exit)}; its log:\n${daemon.log()}\n`);
      process.exitCode = 1;
    }
  }
  await api.stop();
  await traffic.end();
  await lab.destroy();
  rmSync(folder, { recursive: true });
}

tell('How long each change took from the API server to the kernel (both families, all tools)');
process.stdout.write(formatTable(changes));
const sent = tallies.reduce((sum, tally) => sum + tally.sent, 0);
const right = tallies.reduce((sum, tally) => sum + tally.right, 0);
tell(`${right} of ${sent} requests were answered by a pod that should have answered`);
if (right !== sent) process.exitCode = 1;
