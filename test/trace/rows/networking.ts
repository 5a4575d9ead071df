import { FAMILIES, type Family } from '../../../src/net/family.ts';
import type { ObjectJson } from '../../kernel/cluster-objects.ts';
import { type Row, sees } from '../rows.ts';
import { nodePort, type Sketch, service, slice } from '../sketch.ts';

const onNodes = service({ type: 'NodePort', ports: [nodePort(30080)] });
const endpoints = slice(['a1', 'b1']);

function protocolPort(protocol: string, more: ObjectJson = {}): ObjectJson {
  return { name: 'p', protocol, port: 80, ...more };
}

const GRANULAR: readonly Row[] = ['tcp', 'udp', 'sctp'].flatMap((protocol): readonly Row[] => {
  const upper = protocol.toUpperCase();
  const ports = [nodePort(30080, { name: 'p', protocol: upper })];
  const both = slice(['a1', 'b1'], { ports: [protocolPort(upper, { port: 8080 })] });
  return [
    {
      name: `Networking Granular Checks: Services should function for pod-Service, node-Service and endpoint-Service: ${protocol}`,
      steps: [
        {
          objects: [service({ type: 'NodePort', ports }), both],
          asks: {
            [`a2 → cluster:80/${protocol}`]: sees('a1 b1', 'a2'),
            [`a2 → node-a:30080/${protocol}`]: sees('a1 b1', 'node-a'),
            [`a2 → node-b:30080/${protocol}`]: sees('a1 b1', 'node-b'),
            [`node-a → cluster:80/${protocol}`]: sees('a1 b1', 'node-a'),
            [`node-a → node-a:30080/${protocol}`]: sees('a1 b1', 'node-a'),
            [`node-a → node-b:30080/${protocol}`]: sees('a1 b1', 'node-b'),
            [`a1 → cluster:80/${protocol}`]: 'a1 sees node-a | b1 sees a1',
            [`a1 → node-a:30080/${protocol}`]: sees('a1 b1', 'node-a'),
            [`client → node-c:30080/${protocol}`]: sees('a1 b1', 'node-c'),
          },
        },
      ],
    },
    {
      name: `Networking Granular Checks: Services should update endpoints: ${protocol}`,
      steps: [
        {
          objects: [service({ type: 'NodePort', ports }), both],
          asks: { [`a2 → cluster:80/${protocol}`]: sees('a1 b1', 'a2') },
        },
        {
          objects: [
            service({ type: 'NodePort', ports }),
            slice(['b1'], { ports: [protocolPort(upper, { port: 8080 })] }),
          ],
          asks: {
            [`a2 → cluster:80/${protocol}`]: 'b1 sees a2',
            [`client → node-a:30080/${protocol}`]: 'b1 sees node-a',
          },
        },
      ],
    },
    {
      name: `Networking Granular Checks: Services should update nodePort: ${protocol}`,
      steps: [
        {
          objects: [service({ type: 'NodePort', ports }), both],
          asks: { [`client → node-a:30080/${protocol}`]: sees('a1 b1', 'node-a') },
        },
        {
          objects: [service({ ports: [protocolPort(upper)] }), both],
          asks: {
            [`client → node-a:30080/${protocol}`]: 'refused by nobody listening',
            [`a2 → cluster:80/${protocol}`]: sees('a1 b1', 'a2'),
          },
        },
      ],
    },
    {
      name: `Networking Granular Checks: Pods should function for intra-pod and node-pod communication: ${protocol}`,
      steps: [
        {
          objects: [service({ type: 'NodePort', ports }), both],
          asks: {
            [`a2 → a1:8080/${protocol}`]: 'a1 sees a2',
            [`a2 → b1:8080/${protocol}`]: 'passed on to b1 as a2',
            [`b2 → a1:8080/${protocol} at node-a`]: 'a1 sees b2',
            [`node-a → a1:8080/${protocol}`]: 'a1 sees node-a',
            [`node-a → b1:8080/${protocol}`]: 'passed on to b1 as node-a',
            [`node-b → a1:8080/${protocol} at node-a`]: 'a1 sees node-b',
          },
        },
      ],
    },
  ];
});

/** A hostPort on port 80: its rule is told by a mark, since the tracer follows no DNAT. */
const HOST_PORT: Row['builtIn'] = {
  PREROUTING: { before: ['-p tcp -m tcp --dport 80 -m addrtype --dst-type LOCAL -j MARK --set-xmark 0x100/0x100'] },
  INPUT: { inserted: ['-m mark --mark 0x100/0x100 -j DROP'] },
};

const OTHERS: readonly Row[] = [
  {
    name: 'HostPort rules that stand behind ours get what is for the node, and nothing that is for a Service',
    builtIn: HOST_PORT,
    steps: [
      {
        objects: [service({ type: 'LoadBalancer', externalIPs: ['external'], balancers: ['balancer'] }), endpoints],
        asks: {
          'client → node-a:80': 'dropped by INPUT',
          'client → cluster:80': sees('a1 b1', 'node-a'),
          'a2 → cluster:80': sees('a1 b1', 'a2'),
          'client → external:80': sees('a1 b1', 'node-a'),
          'client → balancer:80': sees('a1 b1', 'node-a'),
        },
      },
    ],
  },
  {
    name: 'Networking Granular Checks: Services should function for multiple endpoint-Services with same selector',
    steps: [
      {
        objects: [
          service(),
          endpoints,
          service({ name: 'two', at: 'cluster2' }),
          slice(['a1', 'b1'], { service: 'two' }),
        ],
        asks: {
          'a1 → cluster:80': 'a1 sees node-a | b1 sees a1',
          'a1 → cluster2:80': 'a1 sees node-a | b1 sees a1',
        },
      },
    ],
  },
  {
    name: 'Networking Granular Checks: Services should function for service endpoints using hostNetwork',
    steps: [
      {
        objects: [onNodes, slice(['node-a', 'node-b'])],
        asks: {
          'a2 → cluster:80': sees('node-a node-b', 'a2'),
          'node-a → cluster:80': sees('node-a node-b', 'node-a'),
          'client → node-a:30080': 'node-a sees client | node-b sees node-a',
          'node-a → node-a:30080': sees('node-a node-b', 'node-a'),
        },
      },
    ],
  },
  {
    name: 'Networking Granular Checks: answers of Services pass a node whose FORWARD policy drops',
    builtIn: { FORWARD: { policy: 'DROP' } },
    steps: [
      {
        objects: [onNodes, slice(['a1'])],
        asks: {
          'client → node-a:30080': 'a1 sees node-a',
          'a1 → b2:40000 established': 'passed on to b2:40000 as a1',
          'a1 → b2:40000': 'dropped by the policy of FORWARD',
        },
      },
    ],
  },
];

function inFamily(sketch: Sketch, family: Family): Sketch {
  return () => sketch(family);
}

const DUAL_STACK: readonly Row[] = [
  {
    name: 'Dual stack should create service with cluster ips of both families, each with its own endpoints',
    steps: [
      {
        objects: [
          service({ type: 'NodePort', at: ['172.20.1.1', 'fd00:20::1'], ports: [nodePort(30080)] }),
          ...FAMILIES.map((family) => inFamily(slice(['a1', 'b1'], { name: family.toLowerCase() }), family)),
        ],
        asks: {
          'a2 → cluster:80': sees('a1 b1', 'a2'),
          'node-a → cluster:80': sees('a1 b1', 'node-a'),
          'client → node-b:30080': sees('a1 b1', 'node-b'),
          'a1 → cluster:80': 'a1 sees node-a | b1 sees a1',
        },
      },
    ],
  },
  ...FAMILIES.flatMap((served): readonly Row[] =>
    FAMILIES.map((asked) => ({
      name: `Dual stack should create service with cluster ips of both families: ${asked} with endpoints of ${served} only`,
      families: [asked],
      steps: [
        {
          objects: [service({ at: ['172.20.1.1', 'fd00:20::1'] }), inFamily(endpoints, served)],
          asks: { 'a2 → cluster:80': asked === served ? sees('a1 b1', 'a2') : 'refused by IPVS' },
        },
      ],
    })),
  ),
  ...FAMILIES.flatMap((served): readonly Row[] =>
    FAMILIES.map((asked) => ({
      name: `Dual stack should create a single stack service with cluster ip from the ${served} range: asked in ${asked}`,
      families: [asked],
      steps: [
        {
          objects: [
            inFamily(onNodes, served),
            ...FAMILIES.map((family) => inFamily(slice(['a1', 'b1'], { name: family.toLowerCase() }), family)),
          ],
          asks: {
            'a2 → cluster:80': asked === served ? sees('a1 b1', 'a2') : 'passed on to cluster:80 as a2',
            'client → node-a:30080': asked === served ? sees('a1 b1', 'node-a') : 'refused by nobody listening',
          },
        },
      ],
    })),
  ),
];

/** Every protocol from everywhere, other rules beside ours, and both families. */
export const NETWORKING: readonly Row[] = [...GRANULAR, ...OTHERS, ...DUAL_STACK];
