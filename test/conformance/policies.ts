import type { Scenario } from './scenario.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];
const LOCAL_INSIDE = { internalTrafficPolicy: 'Local' };
const NOBODY = ['refused', 'timeout', 'unreachable'];

/** Traffic policies. */
export const POLICIES: readonly Scenario[] = [
  {
    name: 'Services should respect internalTrafficPolicy=Local Pod to Pod',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const { cluster: at } = await world.createService('web', { ports: HTTP, ...LOCAL_INSIDE });
      await world.expectAnswers({ from: 'a3', at, port: 80 }, ['a1']);
      await world.expectAnswers({ from: 'b3', at, port: 80 }, ['b1']);
      await world.expectTrouble({ from: 'c3', at, port: 80, patienceMs: 1500 }, ['timeout']);
    },
  },
  {
    name: 'Services should respect internalTrafficPolicy=Local Pod (hostNetwork: true) to Pod',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const { cluster: at } = await world.createService('web', { ports: HTTP, ...LOCAL_INSIDE });
      await world.expectAnswers({ from: 'node-a', at, port: 80 }, ['a1']);
      await world.expectAnswers({ from: 'node-b', at, port: 80 }, ['b1']);
      await world.expectTrouble({ from: 'node-c', at, port: 80, patienceMs: 1500 }, NOBODY);
    },
  },
  {
    name: 'Services should respect internalTrafficPolicy=Local Pod and Node, to Pod (hostNetwork: true)',
    run: async (world) => {
      await world.startPods(['node-a']);
      const { cluster: at } = await world.createService('web', { ports: HTTP, ...LOCAL_INSIDE });
      await world.expectAnswers({ from: ['a3', 'node-a'], at, port: 80 }, ['node-a']);
      await world.expectTrouble({ from: ['c3', 'node-c'], at, port: 80, patienceMs: 1500 }, NOBODY);
    },
  },
  {
    name: 'Services should follow a change of both traffic policies',
    run: async (world) => {
      await world.startPods(['a1', 'c1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      const node = { from: 'client', at: world.cluster.lab.node('node-a').addresses, port: web.nodePort('http') };
      const inside = { from: 'a3', at: web.cluster, port: 80 };
      await world.expectAnswers(node, ['a1', 'c1']);
      await world.expectAnswers(inside, ['a1', 'c1']);
      await world.patchService('web', { spec: { ...LOCAL_INSIDE, externalTrafficPolicy: 'Local' } });
      await world.expectAnswers(node, ['a1']);
      await world.expectSeenAs(node, 'itself');
      await world.expectAnswers(inside, ['a1']);
      const far = { ...node, at: world.cluster.lab.node('node-b').addresses };
      await world.expectTrouble({ ...far, patienceMs: 1500 }, ['timeout']);
      await world.patchService('web', { spec: { internalTrafficPolicy: 'Cluster', externalTrafficPolicy: 'Cluster' } });
      await world.expectAnswers(node, ['a1', 'c1']);
      await world.expectAnswers(far, ['a1', 'c1']);
      await world.expectAnswers(inside, ['a1', 'c1']);
    },
  },
];
