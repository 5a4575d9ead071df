import type { JsonRecord } from '../apiserver/api-object.ts';
import { waitFor } from '../lab/wait-for.ts';
import { HASTY_NODE } from './cluster.ts';
import type { Scenario } from './scenario.ts';
import type { Addresses, ServiceView } from './service-view.ts';
import { nodesOf } from './services.ts';
import type { World } from './world.ts';

const PORTS = [
  { name: 'http', protocol: 'TCP', port: 80 },
  { name: 'udp', protocol: 'UDP', port: 80 },
];
const PODS = ['a1', 'b1', 'c1'];
const STICKY = { sessionAffinity: 'ClientIP' };
const LOOSE = { sessionAffinity: 'None', sessionAffinityConfig: null };
const TIMES = 15;
const TIMEOUT_SECONDS = 3;

/** Session affinity by the client's address. */
export const AFFINITY: readonly Scenario[] = [
  {
    name: 'Services should have session affinity work for service with type clusterIP [LinuxOnly]',
    smoke: true,
    run: async (world) => {
      await world.startPods(PODS);
      const { cluster: at } = await world.createService('web', { ports: PORTS, ...STICKY });
      await world.expectOneAnswer({ from: ['a3', 'b3', 'c3', 'node-a'], at, port: 80, times: TIMES });
    },
  },
  {
    name: 'Services should have session affinity work for NodePort service [LinuxOnly]',
    run: async (world) => {
      await world.startPods(PODS);
      const web = await world.createService('web', { type: 'NodePort', ports: PORTS, ...STICKY });
      const question = { from: ['client', 'a3'], at: nodesOf(world), port: web.nodePort('http'), times: TIMES };
      await world.expectOneAnswer(question);
    },
  },
  {
    name: 'Services should be able to switch session affinity for service with type clusterIP [LinuxOnly]',
    run: (world) =>
      switchAffinity(world, 'ClusterIP', ({ cluster }) => ({ from: ['a3', 'c3'], at: cluster, port: 80 })),
  },
  {
    name: 'Services should be able to switch session affinity for NodePort service [LinuxOnly]',
    run: (world) =>
      switchAffinity(world, 'NodePort', (web) => ({ from: 'client', at: nodesOf(world), port: web.nodePort('http') })),
  },
  {
    name: 'Services should have session affinity timeout work for service with type clusterIP [LinuxOnly]',
    lab: true,
    run: (world) => timeOut(world, 'ClusterIP', 'c3', ({ cluster }) => ({ at: cluster, port: 80 })),
  },
  {
    name: 'Services should have session affinity timeout work for NodePort service [LinuxOnly]',
    lab: true,
    run: (world) =>
      timeOut(world, 'NodePort', 'client', (web) => ({
        at: world.cluster.lab.node(HASTY_NODE).addresses,
        port: web.nodePort('udp'),
      })),
  },
];

async function switchAffinity(
  world: World,
  type: string,
  place: (web: ServiceView) => { from: string | string[]; at: Addresses | Addresses[]; port: number },
): Promise<void> {
  await world.startPods(PODS);
  const question = { ...place(await world.createService('web', { type, ports: PORTS, ...STICKY })), times: TIMES };
  await world.expectOneAnswer(question);
  await world.patchService('web', { spec: LOOSE });
  await world.expectAnswers(question, PODS);
  await world.patchService('web', { spec: STICKY });
  await world.expectOneAnswer(question);
}

/**
 * By UDP, whose connections end after a second on that node: an affinity lasts as long as any connection under it, and TCP's
 * closed ones stay for two minutes.
 */
async function timeOut(
  world: World,
  type: string,
  from: string,
  place: (web: ServiceView) => { readonly at: Addresses; readonly port: number },
): Promise<void> {
  const { cluster } = world;
  await world.startPods(PODS);
  const sessionAffinityConfig = { clientIP: { timeoutSeconds: TIMEOUT_SECONDS } };
  const spec: JsonRecord = { type, ports: PORTS, ...STICKY, sessionAffinityConfig };
  const { at, port } = place(await world.createService('web', spec));
  const question = { from, at, port, over: 'udp' } as const;
  const before = await world.expectOneAnswer({ ...question, times: TIMES });
  // Each try that comes too early makes it last anew.
  await waitFor(
    'another pod after the timeout',
    () => world.expectOneAnswer({ ...question, times: 1 }),
    (after) => after.every((host, index) => host !== before[index]),
    { timeoutMs: cluster.patienceMs, everyMs: (TIMEOUT_SECONDS + 2) * 1000 },
  );
  await world.expectOneAnswer({ ...question, times: TIMES });
}
