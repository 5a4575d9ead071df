import { cidr } from '../../builders/net.ts';
import type { Row } from '../rows.ts';
import { nodePort, service, slice } from '../sketch.ts';
import { BY_POLICY, differs, NOBODY, OUT_OF_RANGE, open } from './differing.ts';

const RANGES: readonly Row[] = [
  {
    name: 'source ranges close load-balancer addresses only',
    steps: [
      {
        objects: [open({ loadBalancerSourceRanges: ['192.168.0.200/32'] }), slice(['a1'])],
        asks: {
          'stranger → node-a:30080': 'a1 sees node-a',
          'stranger → external:80': 'a1 sees node-a',
          'a2 → cluster:80': 'a1 sees a2',
        },
      },
    ],
  },
  {
    name: 'source ranges of IPv4 alone close IPv6',
    families: ['IPv6'],
    steps: [
      {
        objects: [open({ loadBalancerSourceRanges: ['192.168.0.200/32'] }), slice(['a1'])],
        asks: {
          'client → balancer:80': differs('a1 sees node-a', OUT_OF_RANGE),
          'a2 → balancer:80': differs('a1 sees node-a', OUT_OF_RANGE),
          'node-a → balancer:80': differs('a1 sees node-a', 'dropped by KUBE-IPVS-OUT-FILTER'),
        },
      },
    ],
  },
  {
    name: 'source ranges of IPv4 alone open IPv4 to them',
    families: ['IPv4'],
    steps: [
      {
        objects: [open({ loadBalancerSourceRanges: ['192.168.0.200/32'] }), slice(['a1'])],
        asks: { 'client → balancer:80': 'a1 sees node-a', 'stranger → balancer:80': OUT_OF_RANGE },
      },
    ],
  },
  {
    name: 'a source range of everybody in the other family closes nothing',
    families: ['IPv6'],
    steps: [
      {
        objects: [open({ loadBalancerSourceRanges: ['0.0.0.0/0'] }), slice(['a1'])],
        asks: { 'client → balancer:80': 'a1 sees node-a', 'node-a → balancer:80': 'a1 sees node-a' },
      },
    ],
  },
  {
    name: 'source ranges that cannot be read allow nobody',
    steps: [
      {
        objects: [open({ loadBalancerSourceRanges: ['192.168.0.200/33'] }), slice(['a1'])],
        asks: {
          'client → balancer:80': differs('a1 sees node-a', OUT_OF_RANGE),
          'node-a → balancer:80': differs('a1 sees node-a', 'dropped by KUBE-IPVS-OUT-FILTER'),
          'client → node-a:30080': 'a1 sees node-a',
        },
      },
    ],
  },
];

const onNodes = service({ type: 'NodePort', ports: [nodePort(30080)] });

const NODE_PORTS: readonly Row[] = [
  {
    name: 'node ports are not served on link-local addresses',
    families: ['IPv4'],
    moreLinks: { nodelocaldns: ['169.254.20.10/32'] },
    steps: [
      {
        objects: [onNodes, slice(['a1'])],
        asks: {
          'a2 → 169.254.20.10:30080': differs('a1 sees node-a', NOBODY),
          'node-a → 169.254.20.10:30080': differs('a1 sees node-a', NOBODY),
          'client → node-a:30080': 'a1 sees node-a',
        },
      },
    ],
  },
  {
    name: 'node ports are served on link-local addresses that are asked for',
    families: ['IPv4'],
    moreLinks: { nodelocaldns: ['169.254.20.10/32'] },
    settings: { nodePortAddresses: [cidr('169.254.20.0/24')] },
    steps: [
      {
        objects: [onNodes, slice(['a1'])],
        asks: { 'a2 → 169.254.20.10:30080': 'a1 sees node-a', 'client → node-a:30080': NOBODY },
      },
    ],
  },
  {
    name: 'node ports are not served on addresses of Services, even where ranges take them in',
    moreLinks: { 'kube-ipvs0': ['172.20.1.1/32', 'fd00:20::1/128'] },
    settings: { nodePortAddresses: [cidr('172.16.0.0/12'), cidr('192.168.0.0/16'), cidr('fd00::/16')] },
    steps: [
      {
        objects: [onNodes, slice(['a1'])],
        asks: {
          'client → cluster:30080': 'refused by KUBE-IPVS-FILTER',
          'client → node-a:30080': 'a1 sees node-a',
          'a2 → cluster:80': 'a1 sees a2',
        },
      },
    ],
  },
  {
    name: 'node ports of ranges of IPv4 alone are not served in IPv6',
    settings: { nodePortAddresses: [cidr('192.168.0.0/24')] },
    families: ['IPv6'],
    steps: [
      {
        objects: [onNodes, slice(['a1'])],
        asks: { 'client → node-a:30080': differs('a1 sees node-a', NOBODY), 'a2 → cluster:80': 'a1 sees a2' },
      },
    ],
  },
  {
    name: 'the health check port is open on a node without an address for node ports',
    settings: { nodePortAddresses: [cidr('192.0.2.0/24'), cidr('2001:db8:99::/64')] },
    builtIn: { INPUT: { policy: 'DROP' } },
    steps: [
      {
        objects: [open({ healthCheckNodePort: 32000, externalTrafficPolicy: 'Local' }), slice(['a1'])],
        asks: {
          'client → node-a:32000': differs(BY_POLICY, NOBODY),
          'client → node-a:30080': BY_POLICY,
        },
      },
    ],
  },
  {
    name: "an external address that is the node's own is served, and everything else of the node stays open",
    steps: [
      {
        objects: [service({ externalIPs: ['node-a'] }), slice(['a1'])],
        asks: {
          'client → node-a:80': 'a1 sees node-a',
          'a2 → node-a:80': 'a1 sees node-a',
          'node-a → node-a:80': 'a1 sees node-a',
          'client → node-a:22': 'node-a:22 sees client',
          'client → node-a ping': 'node-a sees client',
        },
      },
    ],
  },
  {
    name: 'an external address that is of another node is left to that node',
    steps: [
      {
        objects: [service({ externalIPs: ['node-b'] }), slice(['a1'])],
        asks: {
          'a2 → node-b:80 at node-a': differs('a1 sees node-a', 'passed on to node-b:80 as a2'),
          'a2 → node-b:22 at node-a': differs('refused by KUBE-IPVS-FILTER', 'passed on to node-b:22 as a2'),
          'node-a → node-b:22 at node-a': differs('refused by KUBE-IPVS-FILTER', 'passed on to node-b:22 as node-a'),
          'client → node-b:80': 'a1 sees node-b',
          'client → node-b:22': 'node-b:22 sees client',
        },
      },
    ],
  },
];

/** Source ranges of one family, addresses of node ports, and addresses of other nodes. */
export const RANGES_AND_NODE_PORTS: readonly Row[] = [...RANGES, ...NODE_PORTS];
