import { type Answer, type Row, sees } from '../rows.ts';
import { nodePort, service, slice } from '../sketch.ts';

const NOBODY_READY = 'refused by IPVS';
const NO_LOCAL = 'dropped by KUBE-PROXY-FIREWALL';
const OUT_OF_RANGE = 'dropped by KUBE-SOURCE-RANGES-FIREWALL';

const internal = service({ internalTrafficPolicy: 'Local' });
const local = service({
  type: 'LoadBalancer',
  ports: [nodePort(30080)],
  externalIPs: ['external'],
  balancers: ['balancer'],
  externalTrafficPolicy: 'Local',
  healthCheckNodePort: 32000,
});

/** Where a client outside finds no endpoint of policy Local on the node: nothing answers, or an endpoint elsewhere that cannot. */
function noLocal(receivers: string): Answer {
  const inVain = receivers.split(' ').map((receiver) => `${receiver} sees client in vain`);
  return { documented: NO_LOCAL, 'kube-proxy': inVain.join(' | ') };
}

/** What a process of a node gets that dials an address of policy Local, whose packets nobody masquerades in kube-proxy. */
function unmasked(receiver: string, address: string): Answer {
  return { documented: `${receiver} sees node-b`, 'kube-proxy': `${receiver} sees ${address} in vain` };
}

function balanced(ranges: readonly string[]) {
  const rangesOf = {
    IPv4: ranges.map((range) => RANGES[range]?.[0] ?? ''),
    IPv6: ranges.map((range) => RANGES[range]?.[1] ?? ''),
  };
  return service({ type: 'LoadBalancer', ports: [nodePort(30080)], balancers: ['balancer'], rangesOf });
}

const RANGES: Readonly<Record<string, readonly [string, string]>> = {
  client: ['192.168.0.200/32', 'fd00:168::200/128'],
  stranger: ['192.168.0.220/32', 'fd00:168::220/128'],
  nodes: ['192.168.0.8/29', 'fd00:168::10/124'],
  pods: ['10.180.0.0/16', 'fd00:180::/32'],
};

/** Traffic policies, load balancers and their source ranges. */
export const POLICIES: readonly Row[] = [
  {
    name: 'Services should respect internalTrafficPolicy=Local Pod to Pod',
    steps: [
      {
        objects: [internal, slice(['a1'])],
        asks: {
          'a2 → cluster:80': 'a1 sees a2',
          'a1 → cluster:80': 'a1 sees node-a',
          'b2 → cluster:80': { documented: NO_LOCAL, 'kube-proxy': NOBODY_READY },
        },
      },
      { objects: [internal, slice(['a1', 'b1', 'b2'])], asks: { 'c1 → cluster:80 at node-b': sees('b1 b2', 'c1') } },
    ],
  },
  {
    name: 'Services should respect internalTrafficPolicy=Local Pod (hostNetwork: true) to Pod',
    steps: [
      {
        objects: [internal, slice(['a1'])],
        asks: { 'node-a → cluster:80': 'a1 sees node-a', 'node-b → cluster:80': NOBODY_READY },
      },
    ],
  },
  {
    name: 'Services should respect internalTrafficPolicy=Local Pod and Node, to Pod (hostNetwork: true)',
    steps: [
      {
        objects: [internal, slice(['node-a'])],
        asks: {
          'a2 → cluster:80': 'node-a sees a2',
          'node-a → cluster:80': 'node-a sees node-a',
          'b2 → cluster:80': { documented: NO_LOCAL, 'kube-proxy': NOBODY_READY },
          'node-b → cluster:80': NOBODY_READY,
        },
      },
    ],
  },
  {
    name: 'LoadBalancers ESIPP should work for type=LoadBalancer',
    steps: [
      {
        objects: [local, slice(['a1', 'b1'])],
        asks: {
          'client → balancer:80': 'a1 sees client',
          'client → balancer:80 at node-b': 'b1 sees client',
          'client → external:80': 'a1 sees client',
        },
      },
    ],
  },
  {
    name: 'LoadBalancers ESIPP should work for type=NodePort',
    steps: [
      {
        objects: [local, slice(['a1', 'b1'])],
        asks: { 'client → node-a:30080': 'a1 sees client', 'client → node-b:30080': 'b1 sees client' },
      },
    ],
  },
  {
    name: 'LoadBalancers ESIPP should only target nodes with endpoints',
    steps: [
      {
        objects: [local, slice(['a1'])],
        healthy: { 'node-a': 1, 'node-b': 0 },
        asks: {
          'client → balancer:80': 'a1 sees client',
          'client → balancer:80 at node-b': noLocal('a1'),
          'client → external:80 at node-b': noLocal('a1'),
          'client → node-b:30080': noLocal('a1'),
        },
      },
    ],
  },
  {
    name: 'LoadBalancers ESIPP should work from pods',
    steps: [
      {
        objects: [local, slice(['a1'])],
        asks: {
          'a2 → balancer:80': 'a1 sees a2',
          'a1 → balancer:80': 'a1 sees node-a',
          'b2 → balancer:80': 'a1 sees b2',
          'b2 → external:80': 'a1 sees b2',
          'b2 → node-b:30080': 'a1 sees b2',
          'a2 → node-a:30080': 'a1 sees a2',
        },
      },
    ],
  },
  {
    name: 'LoadBalancers ESIPP should work from processes of a node',
    steps: [
      {
        objects: [local, slice(['a1'])],
        asks: {
          'node-a → balancer:80': { documented: 'a1 sees node-a', 'kube-proxy': 'a1 sees balancer' },
          'node-a → node-a:30080': 'a1 sees node-a',
          'node-b → balancer:80': unmasked('a1', 'balancer'),
          'node-b → external:80': unmasked('a1', 'external'),
          'node-b → node-b:30080': 'a1 sees node-b',
          'node-b → cluster:80': 'a1 sees node-b',
        },
      },
    ],
  },
  {
    name: 'LoadBalancers ESIPP should handle updates to ExternalTrafficPolicy field',
    steps: [
      {
        objects: [local, slice(['b1'])],
        asks: { 'client → balancer:80': noLocal('b1'), 'client → node-b:30080': 'b1 sees client' },
      },
      {
        objects: [balanced([]), slice(['b1'])],
        asks: { 'client → balancer:80': 'b1 sees node-a', 'client → node-b:30080': 'b1 sees node-b' },
      },
      {
        objects: [local, slice(['a1', 'b1'])],
        asks: { 'client → balancer:80': 'a1 sees client', 'client → node-a:30080': 'a1 sees client' },
      },
    ],
  },
  {
    name: 'LoadBalancers should be able to change the type and ports of a TCP service',
    steps: [
      { objects: [service(), slice(['b1'])], asks: { 'a2 → cluster:80': 'b1 sees a2' } },
      {
        objects: [service({ type: 'NodePort', ports: [nodePort(30080)] }), slice(['b1'])],
        asks: { 'client → node-a:30080': 'b1 sees node-a' },
      },
      {
        objects: [balanced([]), slice(['b1'])],
        asks: { 'client → node-a:30080': 'b1 sees node-a', 'client → balancer:80': 'b1 sees node-a' },
      },
      {
        objects: [
          service({
            type: 'LoadBalancer',
            ports: [nodePort(30081, { port: 81 })],
            balancers: ['balancer'],
          }),
          slice(['b1']),
        ],
        asks: {
          'client → node-a:30080': 'refused by nobody listening',
          'client → node-a:30081': 'b1 sees node-a',
          'client → balancer:80': 'refused by KUBE-IPVS-FILTER',
          'client → balancer:81': 'b1 sees node-a',
          'a2 → cluster:81': 'b1 sees a2',
        },
      },
      {
        objects: [service({ ports: [{ name: 'http', protocol: 'TCP', port: 81 }] }), slice(['b1'])],
        asks: {
          'client → node-a:30081': 'refused by nobody listening',
          'client → balancer:81': 'passed on to balancer:81 as client',
          'a2 → cluster:81': 'b1 sees a2',
        },
      },
    ],
  },
  {
    name: 'LoadBalancers should only allow access from service loadbalancer source ranges',
    steps: [
      {
        objects: [balanced(['client']), slice(['a1', 'b1'])],
        asks: {
          'client → balancer:80': sees('a1 b1', 'node-a'),
          'client → balancer:80 at node-b': sees('a1 b1', 'node-b'),
          'stranger → balancer:80': OUT_OF_RANGE,
          'a2 → balancer:80': OUT_OF_RANGE,
          'node-a → balancer:80': 'dropped by KUBE-IPVS-OUT-FILTER',
          'stranger → node-a:30080': sees('a1 b1', 'node-a'),
          'a2 → cluster:80': sees('a1 b1', 'a2'),
          'node-a → cluster:80': sees('a1 b1', 'node-a'),
        },
      },
      {
        objects: [balanced(['stranger', 'nodes', 'pods']), slice(['a1', 'b1'])],
        asks: {
          'client → balancer:80': OUT_OF_RANGE,
          'stranger → balancer:80': sees('a1 b1', 'node-a'),
          'a2 → balancer:80': sees('a1 b1', 'node-a'),
          'node-a → balancer:80': sees('a1 b1', 'node-a'),
        },
      },
      { objects: [balanced([]), slice(['a1'])], asks: { 'client → balancer:80': 'a1 sees node-a' } },
    ],
  },
];
