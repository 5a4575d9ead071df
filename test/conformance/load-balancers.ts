import type { JsonRecord } from '../apiserver/api-object.ts';
import type { TrafficProtocol } from '../lab/traffic.ts';
import { meanwhile } from './meanwhile.ts';
import type { Scenario } from './scenario.ts';
import { GONE } from './services.ts';
import type { World } from './world.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];
const LOCAL = { externalTrafficPolicy: 'Local' };
const SILENCE = { times: 1, patienceMs: 1200 };

/** Load balancer addresses, written into the status as a controller does; outside clients come in through node-a. */
export const LOAD_BALANCERS: readonly Scenario[] = [
  ...(['TCP', 'UDP'] as const).map(
    (protocol): Scenario => ({
      name: `LoadBalancers should be able to change the type and ports of a ${protocol} service`,
      run: async (world) => {
        const over: TrafficProtocol = protocol === 'TCP' ? 'http' : 'udp';
        const port = { name: 'main', protocol, port: 80 };
        await world.startPods(['a1', 'b1']);
        const { cluster } = await world.createService('web', { ports: [port] });
        await world.expectAnswers({ from: 'a3', at: cluster, port: 80, over }, ['a1', 'b1']);
        await world.patchService('web', { spec: { type: 'LoadBalancer', ports: [port] } });
        await world.announce('web');
        const outside = { from: ['client', 'a3', 'node-b'], at: world.external, over } as const;
        await world.expectAnswers({ ...outside, port: 80 }, ['a1', 'b1']);
        const nodePort = world.ownNodePort;
        await world.patchService('web', { spec: { ports: [{ ...port, port: 81, nodePort }] } });
        await world.expectAnswers({ ...outside, port: 81 }, ['a1', 'b1']);
        await world.expectTrouble({ ...outside, port: 80 }, ['refused']);
        const at = world.cluster.lab.node('node-b').addresses;
        await world.expectAnswers({ from: 'client', at, port: nodePort, over }, ['a1', 'b1']);
        await world.patchService('web', {
          spec: {
            type: 'ClusterIP',
            externalTrafficPolicy: null,
            allocateLoadBalancerNodePorts: null,
            ports: [{ ...port, port: 81, nodePort: null }],
          },
        });
        await world.announceNothing('web');
        await world.expectTrouble({ from: 'client', at, port: nodePort, over }, ['refused']);
        await world.expectTrouble({ from: 'a3', at: world.external, port: 81, over, patienceMs: 800 }, GONE);
        await world.answersNow({ from: 'a3', at: cluster, port: 81, over }, ['a1', 'b1']);
      },
    }),
  ),
  {
    name: 'LoadBalancers should be able to create LoadBalancer Service without NodePort and change it',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const web = await balance(world, { allocateLoadBalancerNodePorts: false });
      if (web.nodePort('http') !== 0) throw new Error(`it was given node port ${web.nodePort('http')}`);
      await world.expectAnswers({ from: ['client', 'a3'], at: world.external, port: 80 }, ['a1', 'b1']);
      const { nodePort } = await world.patchService('web', {
        spec: { allocateLoadBalancerNodePorts: true, ports: HTTP },
      });
      const at = world.cluster.lab.nodes.map(({ addresses }) => addresses);
      await world.expectAnswers({ from: 'client', at, port: nodePort('http') }, ['a1', 'b1']);
      await world.answersNow({ from: ['client', 'a3'], at: world.external, port: 80 }, ['a1', 'b1']);
    },
  },
  {
    name: 'LoadBalancers should only allow access from service loadbalancer source ranges',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      await balance(world, { loadBalancerSourceRanges: rangesOf(world, ['client', 'a3']) });
      const [at, port] = [world.external, 80];
      await world.expectAnswers({ from: ['client', 'a3'], at, port }, ['a1', 'b1']);
      await world.expectTrouble({ from: ['stranger', 'a2'], at, port, ...SILENCE }, ['timeout']);
      await world.patchService('web', { spec: { loadBalancerSourceRanges: rangesOf(world, ['stranger']) } });
      await world.expectAnswers({ from: 'stranger', at, port }, ['a1', 'b1']);
      await world.expectTrouble({ from: ['client', 'a3'], at, port, ...SILENCE }, ['timeout']);
      await world.patchService('web', { spec: { loadBalancerSourceRanges: null } });
      await world.expectAnswers({ from: ['client', 'stranger', 'a2'], at, port }, ['a1', 'b1']);
    },
  },
  ...(['Cluster', 'Local'] as const).map(
    (externalTrafficPolicy): Scenario => ({
      name: `LoadBalancers should have session affinity work for LoadBalancer service with ${externalTrafficPolicy === 'Local' ? 'ESIPP on' : 'ESIPP off'} [LinuxOnly]`,
      run: async (world) => {
        await world.startPods(['a1', 'a2', 'b1']);
        const hosts = externalTrafficPolicy === 'Local' ? ['a1', 'a2'] : ['a1', 'a2', 'b1'];
        await balance(world, { externalTrafficPolicy, sessionAffinity: 'ClientIP' });
        const question = { from: ['client', 'stranger'], at: world.external, port: 80, times: 15 };
        const chosen = await world.expectOneAnswer(question);
        if (!chosen.every((host) => hosts.includes(host))) throw new Error(`answered by ${chosen.join()}`);
        await world.patchService('web', { spec: { sessionAffinity: 'None', sessionAffinityConfig: null } });
        await world.expectAnswers(question, hosts);
      },
    }),
  ),
  {
    name: 'LoadBalancers ExternalTrafficPolicy: Local should work for type=LoadBalancer and keep the address of the client',
    run: async (world) => {
      await world.startPods(['a1']);
      await balance(world, LOCAL);
      await world.expectSeenAs({ from: ['client', 'stranger'], at: world.external, port: 80 }, 'itself');
    },
  },
  {
    name: 'LoadBalancers ExternalTrafficPolicy: Local should only target nodes with endpoints',
    run: async (world) => {
      const { lab } = world.cluster;
      await world.startPods(['b1']);
      const web = await balance(world, LOCAL);
      const health = { from: 'client', port: web.healthCheckPort, times: 1 };
      await world.expectText({ ...health, at: lab.node('node-b').addresses }, '"localEndpoints": 1');
      const others = ['node-a', 'node-c'].map((name) => lab.node(name).addresses);
      await world.expectTrouble({ ...health, at: others }, ['status 503']);
      await world.expectTrouble({ from: 'client', at: world.external, port: 80, ...SILENCE }, ['timeout']);
      await world.startPods(['a1']);
      await world.expectText({ ...health, at: lab.node('node-a').addresses }, '"localEndpoints": 1');
      await world.expectAnswers({ from: 'client', at: world.external, port: 80 }, ['a1']);
    },
  },
  {
    name: 'LoadBalancers ExternalTrafficPolicy: Local should work from pods',
    run: async (world) => {
      await world.startPods(['b1']);
      await balance(world, LOCAL);
      await world.expectAnswers({ from: ['a3', 'b3', 'c3', 'node-a', 'node-b'], at: world.external, port: 80 }, ['b1']);
    },
  },
  {
    name: 'LoadBalancers ExternalTrafficPolicy: Local should handle updates to ExternalTrafficPolicy field',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const web = await balance(world, LOCAL);
      const [client, at] = ['client', world.external];
      await world.expectAnswers({ from: client, at, port: 80 }, ['a1']);
      await world.expectSeenAs({ from: client, at, port: 80 }, 'itself');
      await world.patchService('web', { spec: { externalTrafficPolicy: 'Cluster', healthCheckNodePort: null } });
      await world.expectAnswers({ from: client, at, port: 80 }, ['a1', 'b1']);
      const health = {
        from: client,
        at: world.cluster.lab.node('node-a').addresses,
        port: web.healthCheckPort,
        times: 1,
      };
      await world.expectTrouble(health, ['refused']);
      await world.patchService('web', { spec: LOCAL });
      await world.expectAnswers({ from: client, at, port: 80 }, ['a1']);
      await world.expectSeenAs({ from: client, at, port: 80 }, 'itself');
    },
  },
  {
    name: 'LoadBalancers should not have disruption during rolling update',
    run: async (world) => {
      const { traffic, families } = world.cluster;
      await world.startPods(['a1', 'b1']);
      await balance(world, {});
      await world.expectAnswers({ from: ['client', 'a3'], at: world.external, port: 80 }, ['a1', 'b1']);
      const asking = families.flatMap((family) =>
        ['client', 'a3'].map((from) => () => {
          const address = world.external[family] ?? '';
          return traffic.ask({ from, protocol: 'http', address, port: 80, times: 5, patienceMs: 8000 });
        }),
      );
      const told = await meanwhile(asking, async () => {
        for (const [old, next] of [
          ['a1', 'a2'],
          ['b1', 'c1'],
        ] as const) {
          // Others ask meanwhile and take their turns, so that a few answers do not show who is still asked.
          const question = { from: ['client', 'a3'], at: world.external, port: 80, times: 40 };
          await world.startPods([next]);
          await world.expectAnswers(question, hostsWith(old, next));
          await world.changePods([`${old}/${world.podPort}`], { terminating: true });
          await world.expectAnswers(question, hostsWith(undefined, next));
          await world.removePods([`${old}/${world.podPort}`]);
        }
      });
      const troubles = told.flatMap((replies) => [...replies.troubles.keys()]);
      if (troubles.length > 0) throw new Error(`disrupted: ${troubles.join(', ')}`);
    },
  },
];

/** The pods while one of the two is replaced, or has been. */
function hostsWith(old: string | undefined, next: string): readonly string[] {
  const other = next === 'a2' ? 'b1' : 'a2';
  return [...(old === undefined ? [] : [old]), next, other];
}

async function balance(world: World, spec: JsonRecord) {
  const web = await world.createService('web', { type: 'LoadBalancer', ports: HTTP, ...spec });
  await world.announce('web');
  return web;
}

function rangesOf({ cluster }: World, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const host = cluster.lab.pods.find((pod) => pod.name === name) ?? cluster.lab.client(name);
    return cluster.families.map((family) => `${host.addresses[family]}/${family === 'IPv4' ? 32 : 128}`);
  });
}
