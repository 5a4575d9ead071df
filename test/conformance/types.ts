import type { Scenario } from './scenario.ts';
import { GONE, nodesOf } from './services.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];
const ELSEWHERE = { type: 'ExternalName', externalName: 'shop.example.com' };
const NO_ADDRESSES = { clusterIP: null, clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null };
const NO_POLICIES = { internalTrafficPolicy: null, externalTrafficPolicy: null };

/** Services that become of another type. */
export const TYPES: readonly Scenario[] = [
  {
    name: 'Services should be able to change the type from ExternalName to ClusterIP',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      await world.createService('web', ELSEWHERE);
      const spec = { ...world.familyFields, type: 'ClusterIP', externalName: null, ports: HTTP };
      const { cluster: at } = await world.patchService('web', { spec });
      await world.expectAnswers({ from: ['a3', 'c3', 'node-a'], at, port: 80 }, ['a1', 'b1']);
    },
  },
  {
    name: 'Services should be able to change the type from ExternalName to NodePort',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      await world.createService('web', ELSEWHERE);
      const spec = { ...world.familyFields, type: 'NodePort', externalName: null, ports: HTTP };
      const web = await world.patchService('web', { spec });
      await world.expectAnswers({ from: ['a3', 'c3'], at: web.cluster, port: 80 }, ['a1', 'b1']);
      await world.expectAnswers({ from: 'client', at: nodesOf(world), port: web.nodePort('http') }, ['a1', 'b1']);
    },
  },
  {
    name: 'Services should be able to change the type from ClusterIP to ExternalName',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const { cluster: at } = await world.createService('web', { ports: HTTP });
      const from = ['a3', 'c3'];
      await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
      await world.patchService('web', { spec: { ...ELSEWHERE, ...NO_ADDRESSES, ...NO_POLICIES } });
      await world.expectTrouble({ from, at, port: 80, patienceMs: 800 }, GONE);
    },
  },
  {
    name: 'Services should be able to change the type from NodePort to ExternalName',
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      const [at, port] = [nodesOf(world), web.nodePort('http')];
      await world.expectAnswers({ from: 'client', at, port }, ['a1', 'b1']);
      await world.expectAnswers({ from: ['a3', 'c3'], at: web.cluster, port: 80 }, ['a1', 'b1']);
      await world.patchService('web', { spec: { ...ELSEWHERE, ...NO_ADDRESSES, ...NO_POLICIES, ports: HTTP } });
      await world.expectTrouble({ from: ['client', 'a3'], at, port }, ['refused']);
      await world.expectTrouble({ from: ['a3', 'c3'], at: web.cluster, port: 80, patienceMs: 800 }, GONE);
    },
  },
];
