import type { Scenario } from './scenario.ts';
import type { World } from './world.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];
const DNS = [
  { name: 'dns', protocol: 'UDP', port: 53 },
  { name: 'dns-tcp', protocol: 'TCP', port: 53 },
];
/** What a client meets at an address that no Service has any more: it is nobody's. */
export const GONE = ['unreachable', 'refused', 'timeout'];

/** Services, basics: endpoints, ports, node ports, external IPs. */
export const SERVICES: readonly Scenario[] = [
  {
    name: 'Services should serve a basic endpoint from pods',
    smoke: true,
    run: async (world) => {
      const { cluster: at } = await world.createService('web', { ports: HTTP });
      const from = ['a3', 'c3'];
      await world.expectTrouble({ from, at, port: 80 }, ['refused']);
      const first = await world.startPods(['a1']);
      await world.expectAnswers({ from, at, port: 80 }, ['a1']);
      const second = await world.startPods(['b1']);
      await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
      await world.removePods(first);
      await world.expectAnswers({ from, at, port: 80 }, ['b1']);
      await world.removePods(second);
      await world.expectTrouble({ from, at, port: 80 }, ['refused']);
    },
  },
  {
    name: 'Services should be able to create a functioning NodePort service',
    smoke: true,
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      await world.expectAnswers({ from: ['a3', 'b3', 'c3', 'node-a'], at: web.cluster, port: 80 }, ['a1', 'b1']);
      const from = ['a3', 'c3', 'node-b', 'client'];
      await world.expectAnswers({ from, at: nodesOf(world), port: web.nodePort('http') }, ['a1', 'b1']);
    },
  },
  {
    name: 'Services should serve multiport endpoints from pods',
    run: async (world) => {
      const { cluster: at } = await world.createService('web', {
        ports: [
          { name: 'one', protocol: 'TCP', port: 80, targetPort: 'first' },
          { name: 'two', protocol: 'TCP', port: 81, targetPort: 'second' },
        ],
      });
      const from = ['a3', 'c3'];
      const one = await world.startPods(['a1'], { named: { first: 1 } });
      await world.expectAnswers({ from, at, port: 80 }, ['a1']);
      await world.expectTrouble({ from, at, port: 81 }, ['refused']);
      await world.startPods(['b1'], { named: { second: 2 } });
      await world.expectAnswers({ from, at, port: 81 }, ['b1']);
      await world.removePods(one);
      await world.expectTrouble({ from, at, port: 80 }, ['refused']);
      await world.answersNow({ from, at, port: 81 }, ['b1']);
    },
  },
  {
    name: 'Services should serve endpoints on same port and different protocols',
    run: async (world) => {
      const [udp, tcp] = [
        { ...DNS[0], name: 'udp' },
        { ...DNS[1], name: 'tcp' },
      ];
      await world.startPods(['a1', 'b1']);
      const { cluster: at } = await world.createService('web', { ports: [tcp, udp] });
      const from = ['a3', 'c3'];
      await world.expectAnswers({ from, at, port: 53, over: ['tcp', 'udp'] }, ['a1', 'b1']);
      await world.patchService('web', { spec: { ports: [tcp] } });
      await world.expectTrouble({ from, at, port: 53, over: 'udp' }, ['refused']);
      await world.answersNow({ from, at, port: 53, over: 'tcp' }, ['a1', 'b1']);
      await world.patchService('web', { spec: { ports: [udp] } });
      await world.expectTrouble({ from, at, port: 53, over: 'tcp' }, ['refused']);
      await world.expectAnswers({ from, at, port: 53, over: 'udp' }, ['a1', 'b1']);
    },
  },
  {
    name: 'DNS should provide DNS for the cluster: the address of kube-dns answers over UDP and TCP',
    run: async (world) => {
      await world.startPods(['a1', 'c1']);
      const { cluster: at } = await world.createService('kube-dns', { ports: DNS });
      await world.expectAnswers({ from: ['a3', 'b3', 'node-b'], at, port: 53, over: ['tcp', 'udp'] }, ['a1', 'c1']);
    },
  },
  {
    name: 'Services should be updated after adding or deleting ports',
    run: async (world) => {
      await world.startPods(['a1']);
      const second = { name: 'second', protocol: 'TCP', port: 81 };
      const { cluster: at } = await world.createService('web', { ports: HTTP });
      const from = ['a3', 'c3'];
      await world.expectAnswers({ from, at, port: 80 }, ['a1']);
      await world.patchService('web', { spec: { ports: [...HTTP, second] } });
      await world.expectAnswers({ from, at, port: 81 }, ['a1']);
      await world.answersNow({ from, at, port: 80 }, ['a1']);
      await world.patchService('web', { spec: { ports: [second] } });
      await world.expectTrouble({ from, at, port: 80 }, ['refused']);
      await world.answersNow({ from, at, port: 81 }, ['a1']);
    },
  },
  {
    name: 'Services should be able to up and down services',
    run: async (world) => {
      const from = ['a3', 'node-c'];
      await world.startPods(['a1'], { labels: { app: 'one' } });
      await world.startPods(['b1'], { labels: { app: 'two' }, offset: 1 });
      const one = await world.createService('one', { selector: { app: 'one' }, ports: HTTP });
      const two = await world.createService('two', {
        selector: { app: 'two' },
        ports: [{ ...HTTP[0], targetPort: 1 }],
      });
      await world.expectAnswers({ from, at: one.cluster, port: 80 }, ['a1']);
      await world.expectAnswers({ from, at: two.cluster, port: 80 }, ['b1']);
      await world.removeService('one');
      await world.expectTrouble({ from, at: one.cluster, port: 80, patienceMs: 800 }, GONE);
      await world.answersNow({ from, at: two.cluster, port: 80 }, ['b1']);
      const three = await world.createService('three', { selector: { app: 'one' }, ports: HTTP });
      await world.expectAnswers({ from, at: three.cluster, port: 80 }, ['a1']);
      await world.answersNow({ from, at: two.cluster, port: 80 }, ['b1']);
    },
  },
  {
    name: 'Services should work after the service has been recreated',
    run: async (world) => {
      const from = ['a3', 'client'];
      await world.startPods(['a1', 'b1']);
      const first = await world.createService('web', { type: 'NodePort', ports: HTTP });
      const at = nodesOf(world);
      await world.expectAnswers({ from, at, port: first.nodePort('http') }, ['a1', 'b1']);
      await world.removeService('web');
      await world.expectTrouble({ from, at, port: first.nodePort('http') }, ['refused']);
      const ports = [{ ...HTTP[0], nodePort: first.nodePort('http') }];
      const again = await world.createService('web', {
        type: 'NodePort',
        ports,
        clusterIPs: Object.values(first.cluster),
      });
      await world.expectAnswers({ from, at, port: again.nodePort('http') }, ['a1', 'b1']);
      await world.expectAnswers({ from: 'a3', at: first.cluster, port: 80 }, ['a1', 'b1']);
    },
  },
  {
    name: 'Services should release NodePorts on delete',
    lab: true,
    run: async (world) => {
      const { lab, traffic } = world.cluster;
      await world.startPods(['b1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      const [port, at] = [web.nodePort('http'), lab.node('node-a').addresses];
      await world.expectAnswers({ from: 'client', at, port }, ['b1']);
      const listening = await lab.output('node-a', 'ss', ['-Hltun', `sport = :${port}`]);
      if (listening !== '') throw new Error(`somebody listens on the node port: ${listening}`);
      await world.removeService('web');
      await world.expectTrouble({ from: 'client', at, port }, ['refused']);
      const name = `host/${port}`;
      await traffic.serve('node-a', name, port);
      await world.expectAnswers({ from: 'client', at, port }, ['host']);
      await traffic.stopServing('node-a', name);
    },
  },
  {
    name: 'Services should be able to update service type to NodePort listening on same port number but different protocols',
    run: async (world) => {
      await world.startPods(['a1', 'c1']);
      const web = await world.createService('web', { ports: HTTP });
      await world.expectAnswers({ from: 'a3', at: web.cluster, port: 80 }, ['a1', 'c1']);
      const { nodePort } = await world.patchService('web', { spec: { type: 'NodePort', ports: HTTP } });
      const port = nodePort('http');
      const ports = [
        { ...HTTP[0], nodePort: port },
        { name: 'udp', protocol: 'UDP', port: 80, nodePort: port },
      ];
      await world.patchService('web', { spec: { ports } });
      const over = ['http', 'udp'] as const;
      await world.expectAnswers({ from: ['a3', 'client'], at: nodesOf(world), port, over }, ['a1', 'c1']);
      await world.expectAnswers({ from: 'b3', at: web.cluster, port: 80, over }, ['a1', 'c1']);
    },
  },
  {
    name: 'Services should be possible to connect to a service via ExternalIP when the external IP is not assigned to a node',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      await world.createService('web', { ports: HTTP, externalIPs: Object.values(world.external) });
      const from = ['a3', 'c3', 'node-b', 'client'];
      await world.expectAnswers({ from, at: world.external, port: 80 }, ['a1', 'b1']);
    },
  },
];

/** The addresses of every node. */
export function nodesOf({ cluster }: World) {
  return cluster.lab.nodes.map(({ addresses }) => addresses);
}
