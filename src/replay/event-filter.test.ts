import { expect } from 'chai';
import { DEFAULT_QUEUE_SETTINGS } from '../queue/settings.ts';
import { EventFilter } from './event-filter.ts';
import type { EventType, TracedKind, TraceEvent } from './trace-event.ts';

describe('replay/event-filter', () => {
  let version = 0;
  const meta = (name: string, more: object = {}) => {
    version += 1;
    return { namespace: 'shop', name, uid: name, resourceVersion: `${version}`, ...more };
  };
  const event = (kind: TracedKind, type: EventType, object: object): TraceEvent => ({
    atMs: 0,
    type,
    kind,
    object: { ...object },
  });
  const service = (more: object = {}) => ({
    metadata: meta('cart', more),
    spec: { clusterIP: '172.20.1.1', ports: [{ port: 80 }] },
  });
  const slice = (endpoints: readonly object[], more: object = {}) => ({
    metadata: meta('cart-1', { labels: { 'kubernetes.io/service-name': 'cart' }, ...more }),
    addressType: 'IPv4',
    ports: [{ port: 8080 }],
    endpoints,
  });
  const pods = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ addresses: [`10.180.0.${index + 1}`] }));
  const node = (name: string, address: string) => ({
    metadata: { name, uid: name, resourceVersion: `${++version}` },
    status: { addresses: [{ type: 'InternalIP', address }] },
  });

  function setUp(otherNodes: 'watched' | 'ignored' = 'watched') {
    const problems: string[] = [];
    const filter = new EventFilter({
      nodeName: 'node-a',
      otherNodes,
      thresholds: DEFAULT_QUEUE_SETTINGS.thresholds,
      problem: ({ object, field }) => problems.push(`${object} ${field}`),
    });
    /** The verdict as a text: a reason, or level and kinds. */
    const judge = (kind: TracedKind, type: EventType, object: object): string => {
      const verdict = filter.judge(event(kind, type, object));
      if (verdict.kind !== 'changes') return `${verdict.kind}: ${verdict.reason}`;
      return `${verdict.level}: ${verdict.changes.map((change) => change.kind).join(', ')}`;
    };
    return { filter, judge, problems };
  }

  it('drops what came in this version before', () => {
    const { judge } = setUp();
    const cart = service();
    expect(judge('Service', 'ADDED', cart)).to.equal('critical: service-added');
    expect(judge('Service', 'MODIFIED', cart)).to.equal('dropped: same-version');
  });

  it('drops a new version in which nothing changes that the kernel depends on', () => {
    const { judge } = setUp();
    judge('Service', 'ADDED', service());
    judge('EndpointSlice', 'ADDED', slice(pods(2)));
    expect(judge('Service', 'MODIFIED', service({ annotations: { a: 'b' } }))).to.equal('dropped: immaterial');
    expect(judge('EndpointSlice', 'MODIFIED', slice(pods(2), { managedFields: [{}] }))).to.equal('dropped: immaterial');
  });

  const foreign: readonly (readonly [string, TracedKind, object])[] = [
    ['a Service of another proxy', 'Service', service({ labels: { 'service.kubernetes.io/service-proxy-name': 'x' } })],
    ['a headless Service', 'Service', { metadata: meta('cart'), spec: { clusterIP: 'None' } }],
    [
      'a slice of a headless Service',
      'EndpointSlice',
      slice(pods(1), { labels: { 'service.kubernetes.io/headless': '' } }),
    ],
    ['a slice of no Service', 'EndpointSlice', slice(pods(1), { labels: {} })],
    ['a slice of a Service that is not there', 'EndpointSlice', slice(pods(1))],
  ];
  for (const [name, kind, object] of foreign) {
    it(`drops ${name}`, () => expect(setUp().judge(kind, 'ADDED', object)).to.equal('dropped: not-ours'));
  }

  it('classifies changes of endpoints, with the Service that brings its slice along', () => {
    const { judge } = setUp();
    expect(judge('EndpointSlice', 'ADDED', slice(pods(10)))).to.equal('dropped: not-ours');
    expect(judge('Service', 'ADDED', service())).to.equal('critical: service-added');
    const [first, ...others] = pods(10);
    const failed = slice([{ ...first, conditions: { ready: false } }, ...others]);
    expect(judge('EndpointSlice', 'MODIFIED', failed)).to.equal('high: ready-to-not-ready');
    expect(judge('EndpointSlice', 'MODIFIED', slice(pods(10)))).to.equal('normal: not-ready-to-ready');
    expect(judge('EndpointSlice', 'DELETED', slice([]))).to.equal('critical: ready-to-not-ready');
  });

  it('takes an object that leaves the selection for deleted, and one with another uid for both', () => {
    const { judge, filter } = setUp();
    judge('Service', 'ADDED', service());
    expect(judge('Service', 'MODIFIED', service({ uid: 'another' }))).to.equal(
      'critical: service-removed, service-added',
    );
    expect(filter.services).to.equal(1);
    const taken = service({ uid: 'another', labels: { 'service.kubernetes.io/service-proxy-name': 'x' } });
    expect(judge('Service', 'MODIFIED', taken)).to.equal('critical: service-removed');
    expect(filter.services).to.equal(0);
    expect(judge('Service', 'DELETED', taken)).to.equal('dropped: not-ours');
  });

  it('asks for a pass when the own Node changes, or addresses of another one', () => {
    const { judge } = setUp();
    expect(judge('Node', 'ADDED', node('node-a', '192.168.0.10'))).to.equal('node: node');
    expect(judge('Node', 'MODIFIED', node('node-a', '192.168.0.10'))).to.equal('dropped: immaterial');
    expect(judge('Node', 'ADDED', node('node-b', '192.168.0.11'))).to.equal('node: other nodes');
    expect(judge('Node', 'MODIFIED', node('node-b', '192.168.0.11'))).to.equal('dropped: immaterial');
    expect(judge('Node', 'DELETED', node('node-a', '192.168.0.10'))).to.equal('dropped: immaterial');
    expect(setUp('ignored').judge('Node', 'ADDED', node('node-b', '192.168.0.11'))).to.equal('dropped: not-ours');
  });

  it('tells what is wrong with an object', () => {
    const { judge, problems } = setUp();
    judge('Service', 'ADDED', { metadata: meta('cart'), spec: { clusterIP: 'junk', ports: [{ port: 80 }] } });
    expect(problems).to.deep.equal(['Service shop/cart spec.clusterIP']);
  });
});
