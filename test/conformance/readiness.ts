import type { Scenario } from './scenario.ts';
import { nodesOf } from './services.ts';

const HTTP = [{ name: 'http', protocol: 'TCP', port: 80 }];
const LOCAL_INSIDE = { internalTrafficPolicy: 'Local' };
const LOCAL_OUTSIDE = { externalTrafficPolicy: 'Local' };
const ENDING = { terminating: true };

/** Pods that are not ready, that end, that are not there. */
export const READINESS: readonly Scenario[] = [
  {
    name: 'Services should create endpoints for unready pods',
    run: async (world) => {
      const from = ['a3', 'c3'];
      await world.startPods(['a1', 'b1'], { ready: false });
      const { cluster: at } = await world.createService('web', { ports: HTTP, publishNotReadyAddresses: true });
      await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
      await world.patchService('web', { spec: { publishNotReadyAddresses: false } });
      await world.expectTrouble({ from, at, port: 80 }, ['refused']);
      await world.patchService('web', { spec: { publishNotReadyAddresses: true } });
      await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
    },
  },
  {
    name: 'Services should be able to connect to terminating and unready endpoints if PublishNotReadyAddresses is true',
    run: async (world) => {
      await world.startPods(['a1'], { ready: false });
      await world.changePods(await world.startPods(['b1'], { ready: false }), ENDING);
      const spec = { type: 'NodePort', ports: HTTP, publishNotReadyAddresses: true };
      const web = await world.createService('web', spec);
      await world.expectAnswers({ from: ['a3', 'c3'], at: web.cluster, port: 80 }, ['a1', 'b1']);
      await world.expectAnswers({ from: 'client', at: nodesOf(world), port: web.nodePort('http') }, ['a1', 'b1']);
    },
  },
  {
    name: 'Services should not be able to connect to terminating and unready endpoints if PublishNotReadyAddresses is false',
    run: async (world) => {
      const pods = await world.startPods(['a1', 'b1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      const [from, at] = [['a3', 'c3'], web.cluster];
      await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
      await world.changePods(pods, { ready: false });
      await world.changePods(pods.slice(1), ENDING);
      await world.expectTrouble({ from, at, port: 80 }, ['refused']);
      await world.expectTrouble({ from: 'client', at: nodesOf(world), port: web.nodePort('http') }, ['refused']);
    },
  },
  {
    name: 'Services should be rejected when no endpoints exist',
    run: async (world) => {
      const web = await world.createService('web', {
        type: 'NodePort',
        ports: [...HTTP, { name: 'udp', protocol: 'UDP', port: 80 }],
      });
      await world.expectTrouble({ from: ['a3', 'c3', 'node-a'], at: web.cluster, port: 80, over: 'tcp' }, ['refused']);
      await world.expectTrouble({ from: ['a3', 'c3'], at: web.cluster, port: 80, over: 'udp' }, ['refused']);
      // The kernel tells a process of the node in its own words that its datagram was not sent.
      await world.expectTrouble({ from: 'node-a', at: web.cluster, port: 80, over: 'udp' }, ['forbidden', 'refused']);
      const question = { from: ['client', 'a3', 'node-b'], at: nodesOf(world), port: web.nodePort('http') };
      await world.expectTrouble(question, ['refused']);
    },
  },
  {
    name: 'Services should be rejected for evicted pods (no endpoints exist)',
    run: async (world) => {
      const pods = await world.startPods(['a1']);
      const { cluster: at } = await world.createService('web', { ports: HTTP });
      const from = ['a3', 'c3', 'node-a'];
      await world.expectAnswers({ from, at, port: 80 }, ['a1']);
      // An evicted pod is no endpoint any more; that its server still runs must not matter.
      await world.changePods(pods, { labels: {} });
      await world.expectTrouble({ from, at, port: 80 }, ['refused']);
    },
  },
  {
    name: 'Services should fallback to terminating endpoints when there are no ready endpoints with internalTrafficPolicy=Cluster',
    smoke: true,
    run: async (world) => {
      const pods = await world.startPods(['a1', 'b1']);
      const { cluster: at } = await world.createService('web', { ports: HTTP });
      const from = ['a3', 'c3', 'node-b'];
      await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
      await world.changePods(pods.slice(0, 1), ENDING);
      await world.expectAnswers({ from, at, port: 80 }, ['b1']);
      await world.changePods(pods.slice(1), ENDING);
      await world.expectAnswers({ from, at, port: 80 }, ['a1', 'b1']);
      await world.startPods(['c1']);
      await world.expectAnswers({ from, at, port: 80 }, ['c1']);
    },
  },
  {
    name: 'Services should fallback to local terminating endpoints when there are no ready endpoints with internalTrafficPolicy=Local',
    run: async (world) => {
      const [local = ''] = await world.startPods(['a1', 'c1']);
      const { cluster: at } = await world.createService('web', { ports: HTTP, ...LOCAL_INSIDE });
      await world.expectAnswers({ from: ['a3', 'node-a'], at, port: 80 }, ['a1']);
      await world.changePods([local], ENDING);
      const [other = ''] = await world.startPods(['a2']);
      await world.expectAnswers({ from: ['a3', 'node-a'], at, port: 80 }, ['a2']);
      await world.changePods([other], ENDING);
      await world.expectAnswers({ from: ['a3', 'node-a'], at, port: 80 }, ['a1', 'a2']);
      await world.answersNow({ from: 'c3', at, port: 80 }, ['c1']);
    },
  },
  {
    name: 'Services should fallback to terminating endpoints when there are no ready endpoints with externallTrafficPolicy=Cluster',
    run: async (world) => {
      const pods = await world.startPods(['a1', 'b1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP });
      const question = { from: ['client', 'c3'], at: nodesOf(world), port: web.nodePort('http') };
      await world.expectAnswers(question, ['a1', 'b1']);
      await world.changePods(pods, ENDING);
      await world.startPods(['c1'], { ready: false });
      await world.expectAnswers(question, ['a1', 'b1']);
      await world.startPods(['c2']);
      await world.expectAnswers(question, ['c2']);
    },
  },
  {
    name: 'Services should fallback to local terminating endpoints when there are no ready endpoints with externalTrafficPolicy=Local',
    run: async (world) => {
      const pods = await world.startPods(['a1', 'a2']);
      await world.startPods(['c1']);
      const web = await world.createService('web', { type: 'NodePort', ports: HTTP, ...LOCAL_OUTSIDE });
      const question = { from: 'client', at: world.cluster.lab.node('node-a').addresses, port: web.nodePort('http') };
      await world.expectAnswers(question, ['a1', 'a2']);
      await world.changePods(pods.slice(0, 1), ENDING);
      await world.expectAnswers(question, ['a2']);
      await world.changePods(pods.slice(1), ENDING);
      await world.expectAnswers(question, ['a1', 'a2']);
      await world.expectSeenAs(question, 'itself');
    },
  },
  {
    name: 'Services should fail health check node port if there are only terminating endpoints',
    run: async (world) => {
      const pods = await world.startPods(['a1']);
      const web = await world.createService('web', { type: 'LoadBalancer', ports: HTTP, ...LOCAL_OUTSIDE });
      await world.announce('web');
      const at = world.cluster.lab.node('node-a').addresses;
      const health = { from: 'client', at, port: web.healthCheckPort, times: 1 };
      await world.expectText(health, '"localEndpoints": 1');
      await world.changePods(pods, ENDING);
      await world.expectTrouble(health, ['status 503']);
      await world.answersNow({ from: 'client', at, port: web.nodePort('http') }, ['a1']);
      await world.answersNow({ from: 'client', at: world.external, port: 80 }, ['a1']);
    },
  },
];
