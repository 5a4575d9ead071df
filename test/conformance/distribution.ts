import type { Scenario } from './scenario.ts';
import type { World } from './world.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];

/** Hints of zones and nodes: node-a and node-b are in one zone, node-c is in another. */
export const DISTRIBUTION: readonly Scenario[] = [
  ...['PreferClose', 'PreferSameZone'].map(
    (trafficDistribution): Scenario => ({
      name: `Traffic Distribution should route traffic to an endpoint in the same zone when using ${trafficDistribution}`,
      run: async (world) => {
        await world.startPods(['a1', 'c1']);
        const { cluster: at } = await world.createService('web', { ports: HTTP, trafficDistribution });
        await world.expectAnswers({ from: ['a3', 'b3', 'node-b'], at, port: 80 }, ['a1']);
        await world.expectAnswers({ from: ['c3', 'node-c'], at, port: 80 }, ['c1']);
      },
    }),
  ),
  {
    name: 'Traffic Distribution should route traffic correctly between pods on multiple nodes when using PreferSameZone',
    run: async (world) => {
      const [first = ''] = await world.startPods(['a1', 'b1', 'c1']);
      const { cluster: at } = await world.createService('web', { ports: HTTP, trafficDistribution: 'PreferSameZone' });
      await world.expectAnswers({ from: ['a3', 'b3'], at, port: 80 }, ['a1', 'b1']);
      await world.expectAnswers({ from: 'c3', at, port: 80 }, ['c1']);
      await world.removePods([first]);
      await world.expectAnswers({ from: ['a3', 'b3'], at, port: 80 }, ['b1']);
      await world.removePods([keyOf(world, 'c1')]);
      await world.expectAnswers({ from: ['a3', 'b3', 'c3'], at, port: 80 }, ['b1']);
    },
  },
  {
    name: 'Traffic Distribution should route traffic to an endpoint on the same node or fall back to same zone when using PreferSameNode',
    run: async (world) => {
      await world.startPods(['a1', 'b1', 'c1']);
      const { cluster: at } = await world.createService('web', { ports: HTTP, trafficDistribution: 'PreferSameNode' });
      for (const letter of ['a', 'b', 'c']) {
        await world.expectAnswers({ from: [`${letter}3`, `node-${letter}`], at, port: 80 }, [`${letter}1`]);
      }
      await world.removePods([keyOf(world, 'b1')]);
      await world.expectAnswers({ from: 'b3', at, port: 80 }, ['a1']);
      await world.removePods([keyOf(world, 'c1')]);
      await world.expectAnswers({ from: 'c3', at, port: 80 }, ['a1']);
    },
  },
];

function keyOf({ podPort }: World, host: string): string {
  return `${host}/${podPort}`;
}
