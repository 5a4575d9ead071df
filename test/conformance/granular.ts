import type { TrafficProtocol } from '../lab/traffic.ts';
import type { Question } from './asking.ts';
import type { Scenario } from './scenario.ts';
import type { ServiceView } from './service-view.ts';
import { nodesOf } from './services.ts';
import type { World } from './world.ts';

const PODS = ['a1', 'b1', 'c1'];
const PORTS = [
  { name: 'http', protocol: 'TCP', port: 80 },
  { name: 'udp', protocol: 'UDP', port: 80 },
  { name: 'sctp', protocol: 'SCTP', port: 80 },
];
const ASKERS = {
  'pod-Service': ['a3'],
  'node-Service': ['node-a'],
  'endpoint-Service': ['a1'],
} as const;
const PROTOCOLS = ['http', 'udp', 'sctp'] as const;
const FAST = ['http', 'udp'] as const;

/** Networking, the granular checks: every asker at every frontend over every protocol. */
export const GRANULAR: readonly Scenario[] = [
  ...(['http', 'udp'] as const).flatMap((over) => [
    podNetwork('intra-pod', ['a3', 'c3'], over),
    podNetwork('node-pod', ['node-a', 'node-b'], over),
  ]),
  ...Object.entries(ASKERS).flatMap(([asker, from]) =>
    PROTOCOLS.map(
      (over): Scenario => ({
        name: `Networking Granular Checks: Services should function for ${asker}: ${over}`,
        run: async (world) => {
          await world.startPods(PODS);
          const web = await world.createService('web', { type: 'NodePort', ports: PORTS });
          for (const question of everywhere(world, web, over)) {
            await world.expectAnswers({ ...question, from, times: 9 }, PODS);
          }
        },
        ...(asker === 'pod-Service' && over === 'udp' ? { smoke: true } : {}),
      }),
    ),
  ),
  {
    name: 'Networking Granular Checks: Services should function for multiple endpoint-Services with same selector',
    run: async (world) => {
      await world.startPods(PODS);
      const one = await world.createService('one', { type: 'NodePort', ports: PORTS });
      const two = await world.createService('two', { type: 'NodePort', ports: PORTS });
      for (const web of [one, two]) {
        for (const over of FAST) {
          for (const question of everywhere(world, web, over))
            await world.expectAnswers({ ...question, from: 'a1' }, PODS);
        }
      }
      await world.removeService('one');
      await world.expectTrouble({ from: 'a1', at: nodesOf(world), port: one.nodePort('http') }, ['refused']);
      for (const question of everywhere(world, two, 'http')) await world.answersNow({ ...question, from: 'a1' }, PODS);
    },
  },
  ...FAST.map(
    (over): Scenario => ({
      name: `Networking Granular Checks: Services should update endpoints: ${over}`,
      run: async (world) => {
        const [first = ''] = await world.startPods(PODS);
        const web = await world.createService('web', { type: 'NodePort', ports: PORTS });
        const questions = everywhere(world, web, over).map((question) => ({ ...question, from: ['a3', 'client'] }));
        const inside = questions.map((question) =>
          question.at === web.cluster ? { ...question, from: 'a3' } : question,
        );
        for (const question of inside) await world.expectAnswers(question, PODS);
        await world.removePods([first]);
        for (const question of inside) await world.expectAnswers(question, PODS.slice(1));
      },
    }),
  ),
  ...FAST.map(
    (over): Scenario => ({
      name: `Networking Granular Checks: Services should update nodePort: ${over} [Slow]`,
      run: async (world) => {
        await world.startPods(PODS);
        const web = await world.createService('web', { type: 'NodePort', ports: PORTS });
        const question = { from: ['a3', 'client'], at: nodesOf(world), port: web.nodePort(over), over, times: 9 };
        await world.expectAnswers(question, PODS);
        await world.patchService('web', {
          spec: {
            type: 'ClusterIP',
            externalTrafficPolicy: null,
            ports: PORTS.map((port) => ({ ...port, nodePort: null })),
          },
        });
        await world.expectTrouble(question, ['refused']);
        await world.answersNow({ from: 'a3', at: web.cluster, port: 80, over, times: 9 }, PODS);
      },
    }),
  ),
  {
    name: 'Networking Granular Checks: Services should support basic nodePort: udp functionality',
    run: async (world) => {
      await world.startPods(PODS);
      const ports = [{ name: 'udp', protocol: 'UDP', port: 90 }];
      const web = await world.createService('web', { type: 'NodePort', ports });
      const question = { from: ['client', 'a3', 'node-c'], at: nodesOf(world), port: web.nodePort('udp') };
      await world.expectAnswers({ ...question, over: 'udp', times: 9 }, PODS);
    },
  },
  ...FAST.map(
    (over): Scenario => ({
      name: `Networking Granular Checks: Services should function for client IP based session affinity: ${over} [LinuxOnly]`,
      run: async (world) => {
        await world.startPods(PODS);
        const web = await world.createService('web', { type: 'NodePort', ports: PORTS, sessionAffinity: 'ClientIP' });
        for (const question of everywhere(world, web, over))
          await world.expectOneAnswer({ ...question, from: 'a3', times: 15 });
      },
    }),
  ),
  ...FAST.map(
    (over): Scenario => ({
      name: `Networking Granular Checks: Services should be able to handle large requests: ${over}`,
      run: async (world) => {
        await world.startPods(PODS);
        const web = await world.createService('web', { type: 'NodePort', ports: PORTS });
        for (const question of everywhere(world, web, over)) {
          await world.expectAnswers({ ...question, from: 'a3', bytes: 2000, times: 9 }, PODS);
        }
      },
    }),
  ),
  {
    name: 'Networking Granular Checks: Services should function for service endpoints using hostNetwork',
    run: async (world) => {
      const nodes = world.cluster.lab.nodes.map(({ name }) => name);
      await world.startPods(nodes);
      const web = await world.createService('web', { type: 'NodePort', ports: PORTS });
      for (const over of FAST) {
        for (const question of everywhere(world, web, over)) {
          await world.expectAnswers({ ...question, from: ['a3', 'node-a'], times: 9 }, nodes);
        }
      }
      await world.expectAnswers({ from: 'client', at: nodesOf(world), port: web.nodePort('http'), times: 9 }, nodes);
    },
  },
  {
    name: "HostPort rules beside the program's own chains keep working",
    lab: true,
    run: async (world) => {
      await world.startPods(['b1']);
      const { cluster, podPort } = world;
      const { cluster: at } = await world.createService('web', { ports: PORTS });
      for (const family of cluster.families) await hostPort(world, family, '-A');
      await world.expectAnswers(
        { from: ['client', 'a3'], at: cluster.lab.node('node-b').addresses, port: podPort + 5 },
        ['b1'],
      );
      await world.startPods(['c1']);
      await world.expectAnswers({ from: ['a3', 'b3'], at, port: 80 }, ['b1', 'c1']);
      await world.answersNow({ from: ['client', 'a3'], at: cluster.lab.node('node-b').addresses, port: podPort + 5 }, [
        'b1',
      ]);
      for (const family of cluster.families) await hostPort(world, family, '-D');
    },
  },
];

function podNetwork(what: string, from: readonly string[], over: TrafficProtocol): Scenario {
  return {
    name: `Networking Granular Checks: Pods should function for ${what} communication: ${over}`,
    run: async (world) => {
      await world.startPods(PODS);
      for (const pod of PODS) {
        await world.expectAnswers({ from, at: world.cluster.lab.pod(pod).addresses, port: world.podPort, over }, [pod]);
      }
    },
  };
}

/** The cluster address, and the node port of every node. */
function everywhere(world: World, web: ServiceView, over: TrafficProtocol): readonly Omit<Question, 'from'>[] {
  return [
    { at: web.cluster, port: 80, over },
    { at: nodesOf(world), port: web.nodePort(over), over },
  ];
}

/** As CNI's portmap writes it, to pod b1 on its node. */
async function hostPort({ cluster, podPort }: World, family: 'IPv4' | 'IPv6', verb: '-A' | '-D'): Promise<void> {
  const address = cluster.lab.pod('b1').addresses[family];
  const to = family === 'IPv4' ? `${address}:${podPort}` : `[${address}]:${podPort}`;
  const rule = ['-p', 'tcp', '-m', 'addrtype', '--dst-type', 'LOCAL', '-m', 'tcp', '--dport', `${podPort + 5}`];
  const tool = family === 'IPv4' ? 'iptables' : 'ip6tables';
  const args = ['-w', '20', '-t', 'nat', verb, 'PREROUTING', ...rule, '-j', 'DNAT', '--to-destination', to];
  await cluster.lab.output('node-b', tool, args);
}
