import type { Scenario } from './scenario.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];

/** Services, basics: types, ports, endpoints. */
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
      const { lab } = world.cluster;
      await world.startPods(['a1', 'b1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      await world.expectAnswers({ from: ['a3', 'b3', 'c3'], at: web.cluster, port: 80 }, ['a1', 'b1']);
      const at = lab.nodes.map(({ addresses }) => addresses);
      await world.expectAnswers({ from: ['a3', 'c3', 'client'], at, port: web.nodePort('http') }, ['a1', 'b1']);
    },
  },
];
