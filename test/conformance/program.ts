import { waitFor } from '../lab/wait-for.ts';
import { type Cluster, controlOf, firstPass } from './cluster.ts';
import type { Scenario } from './scenario.ts';
import { nodesOf } from './services.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];

/** Whose rules are removed. */
const NODE = 'node-b';

/** The program itself: its pages, its restart, the API server's, and rules that somebody else has removed. */
export const PROGRAM: readonly Scenario[] = [
  {
    name: 'Networking should check kube-proxy urls',
    smoke: true,
    run: async (world) => {
      await world.expectText(
        { from: ['client', 'a3'], at: nodesOf(world), port: 10_256, path: '/healthz', times: 1 },
        '"lastUpdated"',
      );
      const at = world.cluster.mode === 'ipv6' ? { IPv6: '::1' } : { IPv4: '127.0.0.1' };
      await world.expectText({ from: ['node-a', 'node-c'], at, port: 10_249, path: '/proxyMode', times: 1 }, 'ipvs');
    },
  },
  {
    name: 'Services should work after restarting kube-proxy [Disruptive]',
    alone: true,
    run: async (world) => {
      const { cluster } = world;
      await world.startPods(['a1', 'b1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      const inside = { from: ['a3', 'node-a'], at: web.cluster, port: 80 };
      const outside = { from: 'client', at: cluster.lab.node('node-a').addresses, port: web.nodePort('http') };
      await world.expectAnswers(inside, ['a1', 'b1']);
      await world.expectAnswers(outside, ['a1', 'b1']);
      for (const end of ['stop', 'kill'] as const) {
        const daemon = controlOf(cluster).proxier('node-a');
        await (end === 'stop' ? daemon.stop(cluster.patienceMs) : daemon.kill());
        await world.answersNow(inside, ['a1', 'b1']);
        await world.answersNow(outside, ['a1', 'b1']);
        const late = await world.createService(`late-${end}`, { ports: HTTP });
        await firstPass(controlOf(cluster).startProxier('node-a'), 'node-a');
        await world.answersNow(inside, ['a1', 'b1']);
        await world.answersNow(outside, ['a1', 'b1']);
        await world.expectAnswers({ ...inside, at: late.cluster }, ['a1', 'b1']);
      }
    },
  },
  {
    name: 'Services should work after restarting apiserver [Disruptive]',
    alone: true,
    run: async (world) => {
      const { controlPlane } = controlOf(world.cluster);
      await world.startPods(['a1', 'b1']);
      const web = await world.createService('web', { ports: HTTP });
      const from = ['a3', 'c3', 'node-b'];
      await world.expectAnswers({ from, at: web.cluster, port: 80 }, ['a1', 'b1']);
      await controlPlane.goAway();
      await world.answersNow({ from, at: web.cluster, port: 80 }, ['a1', 'b1']);
      await controlPlane.comeBack();
      await world.startPods(['c1']);
      const late = await world.createService('late', { ports: HTTP });
      for (const at of [web.cluster, late.cluster])
        await world.expectAnswers({ from, at, port: 80, times: 9 }, ['a1', 'b1', 'c1']);
    },
  },
  {
    name: 'KubeProxy should recreate its iptables rules if they are deleted [Disruptive]',
    alone: true,
    run: async (world) => {
      const { cluster } = world;
      await world.startPods(['a1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      const at = cluster.lab.node(NODE).addresses;
      await world.expectSeenAs({ from: 'client', at, port: web.nodePort('http') }, NODE);
      const before = await steadyRules(cluster);
      await cluster.lab.output(NODE, 'sh', ['-c', FLUSH]);
      const flushed = await rulesOf(cluster);
      if (flushed.length >= before.length) throw new Error('nothing was flushed');
      await waitFor(
        'the rules as they were',
        async () => differences(before, await rulesOf(cluster)),
        (rules) => rules.length === 0,
        { timeoutMs: cluster.patienceMs, everyMs: 1000 },
      );
      await world.expectSeenAs({ from: 'client', at, port: web.nodePort('http') }, NODE);
    },
  },
];

/** Empties every chain of the program's, in all tables. */
const FLUSH = `
for tool in iptables ip6tables; do
  for table in nat filter mangle; do
    $tool-save -t $table | sed -n 's/^:\\(KUBE-[^ ]*\\) .*/\\1/p' | while read -r chain; do
      $tool -w 20 -t $table -F "$chain" || exit
    done
  done
done`;

/** The rules once they stay: passes for what was deleted before this scenario may still be on their way. */
async function steadyRules(cluster: Cluster): Promise<readonly string[]> {
  let last: readonly string[] = [];
  let times = 0;
  return waitFor(
    'rules that stay',
    () => rulesOf(cluster),
    (rules) => {
      times = differences(last, rules).length === 0 ? times + 1 : 0;
      last = rules;
      return times === STEADY_TIMES;
    },
    { timeoutMs: cluster.patienceMs, everyMs: 2000 },
  );
}

/** In a row: a pass in this kernel takes less than ten seconds. */
const STEADY_TIMES = 5;

/** Rules that only one of the two has, with `-` or `+` before them. */
function differences(before: readonly string[], after: readonly string[]): readonly string[] {
  const gone = before.filter((rule) => !after.includes(rule)).map((rule) => `- ${rule}`);
  return [...gone, ...after.filter((rule) => !before.includes(rule)).map((rule) => `+ ${rule}`)];
}

/** Rules of the program's own chains. */
async function rulesOf({ lab }: Cluster): Promise<readonly string[]> {
  const texts = await Promise.all(['iptables-save', 'ip6tables-save'].map((tool) => lab.output(NODE, tool)));
  return texts
    .join('\n')
    .split('\n')
    .filter((line) => line.startsWith('-A KUBE-'));
}
