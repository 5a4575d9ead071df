import type { Connection, Target } from '../lab/traffic.ts';
import { waitFor } from '../lab/wait-for.ts';
import { meanwhile } from './meanwhile.ts';
import type { Scenario } from './scenario.ts';
import type { Addresses } from './service-view.ts';
import type { World } from './world.ts';

const UDP = [{ name: 'udp', protocol: 'UDP', port: 80 }];
const TCP = [{ name: 'tcp', protocol: 'TCP', port: 80 }];

/** Flows that the kernel tracks. */
export const CONNTRACK: readonly Scenario[] = [
  {
    name: 'Conntrack should be able to preserve UDP traffic when server pod cycles for a NodePort service',
    run: async (world) => {
      const first = await world.startPods(['a1']);
      const web = await world.createService('web', { type: 'NodePort', ports: UDP });
      const at = world.cluster.lab.node('node-a').addresses;
      await cycle(world, 'client', at, web.nodePort('udp'), first);
    },
  },
  {
    name: 'Conntrack should be able to preserve UDP traffic when server pod cycles for a ClusterIP service',
    run: async (world) => {
      const first = await world.startPods(['a1']);
      const { cluster: at } = await world.createService('web', { ports: UDP });
      await cycle(world, 'a3', at, 80, first);
    },
  },
  {
    name: 'LoadBalancers should be able to preserve UDP traffic when server pod cycles for a LoadBalancer service',
    run: async (world) => {
      const first = await world.startPods(['a1']);
      await world.createService('web', { type: 'LoadBalancer', ports: UDP });
      await world.announce('web');
      await cycle(world, 'client', world.external, 80, first);
    },
  },
  {
    name: 'Conntrack should be able to preserve UDP traffic when initial unready endpoints get ready',
    run: async (world) => {
      const pods = await world.startPods(['a1'], { ready: false });
      const web = await world.createService('web', { type: 'NodePort', ports: UDP });
      const node = world.cluster.lab.node('node-a').addresses;
      const flows = [
        ...(await openFlows(world, 'client', node, web.nodePort('udp'))),
        ...(await openFlows(world, 'a3', web.cluster, 80)),
      ];
      for (const { first } of flows) if (first.startsWith('a1/')) throw new Error('an unready pod has answered');
      await world.changePods(pods, { ready: true });
      for (const flow of flows) await answeredBy(world, flow, 'a1');
    },
  },
  {
    name: 'Conntrack proxy implementation should not be vulnerable to the invalid conntrack state bug [Privileged]',
    lab: true,
    run: async (world) => {
      const { cluster, podPort: port } = world;
      const [key = ''] = await world.startPods(['b1']);
      const { cluster: at } = await world.createService('web', { ports: TCP });
      await world.expectAnswers({ from: 'a3', at, port: 80 }, ['b1']);
      for (const family of cluster.families) {
        const address = at[family] ?? '';
        const held = await cluster.traffic.open({ from: 'a3', protocol: 'tcp', address, port: 80, patienceMs: 5000 });
        if (!held.first.startsWith(key)) throw new Error(`not connected: ${held.first}`);
        // Passed on without its translation, it would seem to be of no connection: the client would reset that of the pod.
        await held.disturb({ namespace: 'b1', address: cluster.lab.pod('b1').addresses[family], port });
        for (let times = 0; times < 3; times += 1) {
          const answer = await held.again(5000);
          if (answer !== held.first) throw new Error(`after a stray segment: ${answer}`);
        }
        await held.close();
      }
    },
  },
  {
    name: 'KubeProxy should set TCP CLOSE_WAIT timeout [Privileged]',
    lab: true,
    run: async (world) => {
      const pods = await world.startPods(['b1']);
      const { cluster: at } = await world.createService('web', { ports: TCP });
      await world.expectAnswers({ from: 'a3', at, port: 80 }, ['b1']);
      const held = await Promise.all(
        Object.values(at).map((address) =>
          world.cluster.traffic.open({ from: 'a3', protocol: 'tcp', address, port: 80 }),
        ),
      );
      await world.stopServers(pods);
      await waitFor(
        'half-closed connections with about an hour left',
        () => closeWaits(world, Object.values(at)),
        (left) => left.length === held.length && left.every((seconds) => seconds > 3500 && seconds <= 3600),
        { timeoutMs: world.cluster.patienceMs, everyMs: 500 },
      );
      await Promise.all(held.map((connection) => connection.close()));
    },
  },
];

/** The first pod goes while a client keeps sending from one port, and another one comes. */
async function cycle(world: World, from: string, at: Addresses, port: number, first: readonly string[]): Promise<void> {
  await world.expectAnswers({ from, at, port, over: 'udp' }, ['a1']);
  const flows = await openFlows(world, from, at, port);
  for (const flow of flows) await answeredBy(world, flow, 'a1');
  // As a resolver that does not give up: its packets keep the flow alive.
  const sending = flows.map((flow) => () => flow.again(300));
  await meanwhile(sending, async () => {
    await world.startPods(['b1']);
    await world.removePods(first);
    await world.expectAnswers({ from, at, port, over: 'udp' }, ['b1']);
  });
  for (const flow of flows) await answeredBy(world, flow, 'b1');
  await Promise.all(flows.map((flow) => flow.close()));
}

function openFlows(world: World, from: string, at: Addresses, port: number): Promise<readonly Connection[]> {
  const targets = world.cluster.families.map((family): Target => {
    return { from, protocol: 'udp', address: at[family] ?? '', port, patienceMs: 500 };
  });
  return Promise.all(targets.map((target) => world.cluster.traffic.open(target)));
}

async function answeredBy({ cluster }: World, flow: Connection, host: string): Promise<void> {
  await waitFor(
    `an answer of ${host}`,
    () => flow.again(500),
    (answer) => answer.startsWith(`${host}/`),
    {
      timeoutMs: cluster.patienceMs,
    },
  );
}

/** Seconds left of tracked connections to these addresses that only one side has closed. */
async function closeWaits({ cluster }: World, addresses: readonly string[]): Promise<readonly number[]> {
  const lists = addresses.map((address) => {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    return cluster.lab.output('node-a', 'conntrack', ['-L', '-f', family, '-p', 'tcp', '--orig-dst', address]);
  });
  const lines = (await Promise.all(lists)).join('').matchAll(/^tcp +6 (\d+) CLOSE_WAIT /gm);
  return [...lines].map(([, seconds]) => Number(seconds));
}
