import type { Scenario } from './scenario.ts';
import { GONE } from './services.ts';
import type { World } from './world.ts';

const HEADLESS = 'service.kubernetes.io/headless';
const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];

/** Labels that say that a Service is not this program's. */
export const LABELS: readonly Scenario[] = [
  {
    name: 'Services should implement service.kubernetes.io/service-proxy-name',
    run: (world) => toggle(world, 'service.kubernetes.io/service-proxy-name', 'another'),
  },
  {
    name: 'Services should implement service.kubernetes.io/headless: as from 1.36 on it is for slices, and a cluster address is served',
    run: async (world) => {
      const from = ['a3', 'c3', 'node-b'];
      await world.startPods(['a1', 'b1']);
      const labelled = await world.createService('labelled', { ports: HTTP }, { [HEADLESS]: '' });
      const { cluster: at } = await world.createService('web', { ports: HTTP });
      await world.createService('none', { ports: HTTP, clusterIP: 'None' });
      for (const place of [at, labelled.cluster])
        await world.expectAnswers({ from, at: place, port: 80 }, ['a1', 'b1']);
      await world.patchService('web', { metadata: { labels: { [HEADLESS]: '' } } });
      await world.startPods(['c1']);
      for (const place of [at, labelled.cluster]) {
        await world.expectAnswers({ from, at: place, port: 80, times: 9 }, ['a1', 'b1', 'c1']);
      }
    },
  },
];

/** Two Services on the same pods, one that has the label from the start and one that is given it and loses it again. */
async function toggle(world: World, label: string, value: string): Promise<void> {
  const from = ['a3', 'c3', 'node-b'];
  await world.startPods(['a1', 'b1']);
  const foreign = await world.createService('foreign', { ports: HTTP }, { [label]: value });
  const { cluster: at } = await world.createService('web', { ports: HTTP });
  const nobody = async (address: typeof at) =>
    world.expectTrouble({ from, at: address, port: 80, patienceMs: 800 }, GONE);
  await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
  await nobody(foreign.cluster);
  await world.patchService('web', { metadata: { labels: { [label]: value } } });
  await nobody(at);
  await world.patchService('web', { metadata: { labels: { [label]: null } } });
  await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
  await world.patchService('foreign', { metadata: { labels: { [label]: null } } });
  await world.expectAnswers({ from, at: foreign.cluster, port: 80 }, ['a1', 'b1']);
}
