import { type Row, sees } from '../rows.ts';
import { slice } from '../sketch.ts';
import { differs, NO_LOCAL, open } from './differing.ts';

/** Traffic policy Local on a node without a local endpoint. */
export const WITHOUT_LOCAL: readonly Row[] = [
  {
    name: 'an external address under policy Local drops clients outside where no endpoint is local, and serves Pods and the node',
    steps: [
      {
        objects: [open({ externalTrafficPolicy: 'Local' }), slice(['b1', 'b2'])],
        asks: {
          ...Object.fromEntries(
            ['balancer:80', 'external:80', 'node-a:30080'].flatMap((frontend) => [
              [`client → ${frontend}`, differs('b1 sees client in vain | b2 sees client in vain', NO_LOCAL)],
              [`node-b → ${frontend} at node-a`, differs('b1 sees node-b in vain | b2 sees node-b in vain', NO_LOCAL)],
              [`a1 → ${frontend}`, sees('b1 b2', 'a1')],
            ]),
          ),
          'node-a → node-a:30080': sees('b1 b2', 'node-a'),
          'node-a → balancer:80': differs(
            'b1 sees balancer in vain | b2 sees balancer in vain',
            sees('b1 b2', 'node-a'),
          ),
          'node-a → external:80': differs(
            'b1 sees external in vain | b2 sees external in vain',
            sees('b1 b2', 'node-a'),
          ),
          'client → cluster:80': sees('b1 b2', 'node-a'),
          'client → node-b:30080': sees('b1 b2', 'client'),
        },
      },
    ],
  },
  {
    name: 'an external address under policy Local drops new connections only',
    steps: [
      {
        objects: [open({ externalTrafficPolicy: 'Local' }), slice(['b1'])],
        asks: { 'client → balancer:80 established': differs('b1 sees client in vain', 'b1 sees node-a') },
      },
    ],
  },
  {
    name: 'an external address under policy Local serves Pods of other nodes, too, and the endpoint itself',
    steps: [
      {
        objects: [open({ externalTrafficPolicy: 'Local' }), slice(['a1'])],
        asks: {
          'a2 → node-b:30080': differs('a1 sees a2 in vain', 'a1 sees node-b'),
          'a1 → node-b:30080': differs('a1 sees a1 in vain', 'a1 sees node-b'),
          'c1 → balancer:80 at node-b': differs('a1 sees c1 in vain', 'a1 sees node-b'),
          'c1 → external:80 at node-b': differs('a1 sees c1 in vain', 'a1 sees node-b'),
          'b1 → node-b:30080': 'a1 sees b1',
          'c1 → node-a:30080': 'a1 sees c1',
        },
      },
    ],
  },
  {
    name: 'an external address under policy Local refuses where no endpoint is usable anywhere',
    steps: [
      {
        objects: [open({ externalTrafficPolicy: 'Local' }), slice([])],
        asks: { 'client → balancer:80': 'refused by IPVS', 'client → node-a:30080': 'refused by IPVS' },
      },
    ],
  },
  {
    name: 'an external address under policy Local drops nobody where Pods cannot be told from others',
    settings: { detectLocal: { kind: 'cluster-cidr', cidrs: [] } },
    steps: [
      {
        objects: [open({ externalTrafficPolicy: 'Local' }), slice(['b1'])],
        asks: {
          'client → balancer:80': 'b1 sees client in vain',
          'a1 → balancer:80': 'b1 sees a1',
          'node-a → cluster:80': 'b1 sees node-a',
          'client → cluster:80': 'b1 sees client in vain',
        },
      },
    ],
  },
  {
    name: 'an external address under policy Local tells Pods by their interfaces',
    settings: { detectLocal: { kind: 'interface-name-prefix', prefix: 'a' } },
    steps: [
      {
        objects: [open({ externalTrafficPolicy: 'Local' }), slice(['b1'])],
        asks: {
          'client → balancer:80': differs('b1 sees client in vain', NO_LOCAL),
          'a1 → balancer:80': 'b1 sees a1',
          'c1 → node-a:30080': differs('b1 sees c1 in vain', NO_LOCAL),
          'node-a → balancer:80': differs('b1 sees balancer in vain', 'b1 sees node-a'),
          'node-a → cluster:80': 'b1 sees node-a',
          'client → cluster:80': 'b1 sees node-a',
          'a1 → cluster:80': 'b1 sees a1',
        },
      },
    ],
  },
  {
    name: 'an external address under policy Local follows its endpoints onto the node and away again',
    steps: [['b1'], ['a1', 'b1'], ['b1']].map((pods) => ({
      objects: [open({ externalTrafficPolicy: 'Local' }), slice(pods)],
      asks: {
        'client → balancer:80': pods.includes('a1') ? 'a1 sees client' : differs('b1 sees client in vain', NO_LOCAL),
        'client → node-a:30080': pods.includes('a1') ? 'a1 sees client' : differs('b1 sees client in vain', NO_LOCAL),
      },
    })),
  },
  {
    name: 'a cluster address under policy Local never leads to endpoints elsewhere, whatever else the Service has',
    steps: [
      {
        objects: [open({ internalTrafficPolicy: 'Local' }), slice(['b1'])],
        asks: {
          'a1 → cluster:80': differs('b1 sees a1', NO_LOCAL),
          'client → cluster:80': differs('b1 sees node-a', NO_LOCAL),
          'node-a → cluster:80': differs('b1 sees node-a', 'refused by IPVS'),
          'b2 → cluster:80': 'b1 sees b2',
          'a1 → balancer:80': 'b1 sees node-a',
          'client → node-a:30080': 'b1 sees node-a',
        },
      },
    ],
  },
  {
    name: 'a cluster address under policy Local refuses where no endpoint is usable anywhere',
    steps: [
      {
        objects: [open({ internalTrafficPolicy: 'Local' }), slice([])],
        asks: { 'a1 → cluster:80': 'refused by IPVS', 'node-a → cluster:80': 'refused by IPVS' },
      },
    ],
  },
];
