import type { Scenario } from './scenario.ts';

const PORTS = [
  { name: 'http', protocol: 'TCP', port: 80 },
  { name: 'udp', protocol: 'UDP', port: 80 },
];
const over = ['http', 'udp'] as const;

/** What address the pods see, and pods that reach themselves. */
export const SOURCE_ADDRESSES: readonly Scenario[] = [
  {
    name: 'Services should preserve source pod IP for traffic thru service cluster IP',
    smoke: true,
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const { cluster: at } = await world.createService('web', { ports: PORTS });
      await world.expectAnswers({ from: ['a3', 'c3'], at, port: 80, over }, ['a1', 'b1']);
      await world.expectSeenAs({ from: ['a3', 'c3'], at, port: 80, over }, 'itself');
    },
  },
  {
    name: 'Services should allow pods to hairpin back to themselves through services',
    smoke: true,
    run: async (world) => {
      await world.startPods(['a1']);
      const web = await world.createService('web', { type: 'NodePort', ports: PORTS });
      await world.expectAnswers({ from: 'a1', at: web.cluster, port: 80, over }, ['a1']);
      const at = world.cluster.lab.node('node-a').addresses;
      await world.expectAnswers({ from: 'a1', at, port: web.nodePort('http') }, ['a1']);
    },
  },
  {
    name: 'Services should show a node to pods where it sends on what came from outside or from itself',
    run: async (world) => {
      await world.startPods(['b1']);
      const web = await world.createService('web', { type: 'NodePort', ports: PORTS });
      const node = world.cluster.lab.node('node-a').addresses;
      await world.expectSeenAs({ from: 'client', at: node, port: web.nodePort('http') }, 'node-a');
      await world.expectSeenAs({ from: 'stranger', at: node, port: web.nodePort('udp'), over: 'udp' }, 'node-a');
      await world.expectSeenAs({ from: 'node-a', at: web.cluster, port: 80, over }, 'node-a');
    },
  },
];
