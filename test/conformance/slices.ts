import type { Scenario } from './scenario.ts';
import type { World } from './world.ts';

/** EndpointSlices written by hand, for a Service without a selector. */
export const SLICES: readonly Scenario[] = [
  {
    name: 'EndpointSlice should support a Service with multiple endpoint IPs specified in multiple EndpointSlices',
    run: async (world) => {
      await world.startPods(['a1', 'b1', 'c1'], { labels: {} });
      const { cluster: at } = await world.createService('web', { selector: {}, ports: [{ name: 'http', port: 80 }] });
      await writeSlices(world, 'one', 'http', world.podPort, ['a1', 'b1']);
      await writeSlices(world, 'two', 'http', world.podPort, ['c1']);
      await world.expectAnswers({ from: ['a3', 'c3'], at, port: 80, times: 9 }, ['a1', 'b1', 'c1']);
    },
  },
  {
    name: 'EndpointSlice should support a Service with multiple ports specified in multiple EndpointSlices',
    run: async (world) => {
      await world.startPods(['a1'], { labels: {}, offset: 1 });
      await world.startPods(['b1'], { labels: {}, offset: 2 });
      const { cluster: at } = await world.createService('web', {
        selector: {},
        ports: [
          { name: 'one', port: 80 },
          { name: 'two', port: 81 },
        ],
      });
      await writeSlices(world, 'one', 'one', world.podPort + 1, ['a1']);
      await writeSlices(world, 'two', 'two', world.podPort + 2, ['b1']);
      const from = ['a3', 'c3'];
      await world.expectAnswers({ from, at, port: 80 }, ['a1']);
      await world.expectAnswers({ from, at, port: 81 }, ['b1']);
    },
  },
];

/** One slice a family. */
async function writeSlices(world: World, name: string, portName: string, port: number, hosts: readonly string[]) {
  for (const family of world.cluster.families) {
    const pods = hosts.map((host) => world.cluster.lab.pod(host));
    await world.writeSlice(`${name}-${family.toLowerCase()}`, {
      metadata: { labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: family,
      ports: [{ name: portName, protocol: 'TCP', port }],
      endpoints: pods.map(({ addresses, node }) => ({ addresses: [addresses[family]], nodeName: node })),
    });
  }
}
