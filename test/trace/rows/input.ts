import { cidr } from '../../builders/net.ts';
import type { Answer, Row } from '../rows.ts';
import { nodePort, service, slice } from '../sketch.ts';
import { BY_POLICY, differs, NOBODY, open } from './differing.ts';

const BEHIND_POLICY: readonly Row[] = [
  {
    name: 'an INPUT policy of DROP does not cut Services off, and nothing else is opened',
    builtIn: { INPUT: { policy: 'DROP' } },
    steps: [
      {
        objects: [open({ healthCheckNodePort: 32000, externalTrafficPolicy: 'Local' }), slice(['a1'])],
        asks: {
          'client → balancer:80': differs(BY_POLICY, 'a1 sees client'),
          'client → external:80': differs(BY_POLICY, 'a1 sees client'),
          'client → node-a:30080': differs(BY_POLICY, 'a1 sees client'),
          'client → cluster:80': differs(BY_POLICY, 'a1 sees node-a'),
          'a2 → cluster:80': differs(BY_POLICY, 'a1 sees a2'),
          'node-a → cluster:80': 'a1 sees node-a',
          'client → node-a:22': BY_POLICY,
          'client → cluster:22': 'refused by KUBE-IPVS-FILTER',
          'client → node-a:30081': BY_POLICY,
          'client → node-a:30080/udp': BY_POLICY,
          'client → node-a:32000': NOBODY,
          'client → balancer:32000': NOBODY,
        },
      },
    ],
  },
  ...['udp', 'sctp'].map((protocol): Row => {
    const ports = [nodePort(30080, { protocol: protocol.toUpperCase() })];
    return {
      name: `an INPUT policy of DROP does not cut node ports of ${protocol} off`,
      builtIn: { INPUT: { policy: 'DROP' } },
      steps: [
        {
          objects: [
            service({ type: 'NodePort', ports }),
            slice(['a1'], { ports: [{ name: 'http', protocol: protocol.toUpperCase(), port: 8080 }] }),
          ],
          asks: {
            [`client → node-a:30080/${protocol}`]: differs(BY_POLICY, 'a1 sees node-a'),
            'client → node-a:30080': BY_POLICY,
          },
        },
      ],
    };
  }),
  {
    name: 'an INPUT policy of DROP opens node ports on their addresses only',
    builtIn: { INPUT: { policy: 'DROP' } },
    settings: { nodePortAddresses: [cidr('192.168.0.0/24'), cidr('fd00:168::/64')] },
    steps: [
      {
        objects: [service({ type: 'NodePort', ports: [nodePort(30080)] }), slice(['a1'])],
        asks: {
          'client → node-a:30080': differs(BY_POLICY, 'a1 sees node-a'),
          'client → cluster:30080': 'refused by KUBE-IPVS-FILTER',
        },
      },
    ],
  },
  {
    name: 'rules of the administrator in INPUT come before what is accepted',
    builtIn: { INPUT: { before: ['-p tcp -m tcp --dport 30080 -j DROP', '-i a2 -j DROP'], policy: 'DROP' } },
    steps: [
      {
        objects: [open(), slice(['a1'])],
        asks: {
          'client → node-a:30080': 'dropped by INPUT',
          'a2 → cluster:80': 'dropped by INPUT',
          'client → balancer:80': differs(BY_POLICY, 'a1 sees node-a'),
          'client → external:80': differs(BY_POLICY, 'a1 sees node-a'),
        },
      },
    ],
  },
];

const ECHO: readonly Row[] = [
  {
    name: 'addresses of Services answer echo requests',
    steps: [
      {
        objects: [open(), slice(['a1'])],
        asks: Object.fromEntries(
          ['client', 'a2', 'node-a'].flatMap((sender) => [
            [`${sender} → node-a ping`, `node-a sees ${sender}`],
            ...['cluster', 'external', 'balancer'].map((address): readonly [string, Answer] => [
              `${sender} → ${address} ping`,
              differs('refused by KUBE-IPVS-FILTER', `${address} sees ${sender === 'node-a' ? address : sender}`),
            ]),
          ]),
        ),
      },
    ],
  },
  {
    name: 'addresses of Services answer nothing else of the node',
    steps: [
      {
        objects: [open(), slice(['a1'])],
        asks: Object.fromEntries(
          ['cluster', 'external', 'balancer'].flatMap((address) =>
            [`${address}:22`, `${address}:10256`, `${address}:80/udp`, `${address}:30080`].flatMap((frontend) => [
              [`client → ${frontend}`, 'refused by KUBE-IPVS-FILTER'],
              [`node-a → ${frontend}`, 'refused by KUBE-IPVS-FILTER'],
            ]),
          ),
        ),
      },
    ],
  },
];

/** An INPUT policy of DROP, and echo requests. */
export const INPUT: readonly Row[] = [...BEHIND_POLICY, ...ECHO];
