import { FAMILIES, type Family } from '../../src/net/family.ts';
import type { Scenario } from './scenario.ts';
import type { Addresses } from './service-view.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];

/** Both families at once; all other scenarios run with both as well. */
export const DUAL_STACK: readonly Scenario[] = [
  {
    name: '[Feature:IPv6DualStack] should be able to reach pod on ipv4 and ipv6 ip',
    dual: true,
    run: async (world) => {
      await world.startPods(['b1']);
      const at = world.cluster.lab.pod('b1').addresses;
      await world.expectAnswers({ from: ['a3', 'b3', 'node-c'], at, port: world.podPort }, ['b1']);
    },
  },
  ...[['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']].map(
    (ipFamilies): Scenario => ({
      name: `[Feature:IPv6DualStack] should create service with ${ipFamilies.join(',').toLowerCase()} cluster ip`,
      dual: true,
      run: async (world) => {
        await world.startPods(['a1', 'b1']);
        const ipFamilyPolicy = ipFamilies.length === 1 ? 'SingleStack' : 'RequireDualStack';
        const web = await world.createService('web', { type: 'NodePort', ports: HTTP, ipFamilies, ipFamilyPolicy });
        const families = Object.keys(web.cluster);
        if (families.join() !== ipFamilies.join()) throw new Error(`it was given addresses of ${families.join()}`);
        await world.expectAnswers({ from: ['a3', 'c3', 'node-b'], at: web.cluster, port: 80 }, ['a1', 'b1']);
        const { addresses } = world.cluster.lab.node('node-a');
        const port = web.nodePort('http');
        await world.expectAnswers({ from: 'client', at: only(ipFamilies, addresses), port }, ['a1', 'b1']);
        const others = FAMILIES.filter((family) => !ipFamilies.includes(family));
        if (others.length > 0)
          await world.expectTrouble({ from: 'client', at: only(others, addresses), port }, ['refused']);
      },
    }),
  ),
  {
    name: '[Feature:IPv6DualStack] should follow a Service that gets the second family and loses it again',
    dual: true,
    run: async (world) => {
      await world.startPods(['a1', 'b1']);
      const single = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
      await world.createService('web', { ports: HTTP, ...single });
      const both = await world.patchService('web', {
        spec: { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      });
      await world.expectAnswers({ from: ['a3', 'c3'], at: both.cluster, port: 80 }, ['a1', 'b1']);
      const [first] = Object.values(both.cluster);
      await world.patchService('web', { spec: { ...single, clusterIPs: [first] } });
      await world.expectTrouble({ from: 'a3', at: only(['IPv6'], both.cluster), port: 80, patienceMs: 800 }, [
        'unreachable',
        'refused',
        'timeout',
      ]);
      await world.answersNow({ from: 'a3', at: only(['IPv4'], both.cluster), port: 80 }, ['a1', 'b1']);
    },
  },
];

function only(families: readonly string[], addresses: Addresses): Addresses {
  const wanted = Object.entries(addresses).filter(([family]) => families.includes(family as Family));
  return Object.fromEntries(wanted);
}
