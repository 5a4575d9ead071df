import { expect } from 'chai';
import { FakeTransport } from '../../test/apiserver/fake-transport.ts';
import { SteppedClock, settle } from '../../test/stepped-clock.ts';
import { type ClusterWatch, watchCluster } from './watch-cluster.ts';

describe('kube/watch-cluster', () => {
  let transport: FakeTransport;
  let clock: SteppedClock;
  let watch: ClusterWatch;
  let told: string[];
  let tapped: string[];

  function begin(otherNodes: 'watched' | 'ignored'): void {
    transport = new FakeTransport();
    clock = new SteppedClock();
    told = [];
    tapped = [];
    const change = (kind: string) => (previous?: { readonly name: string }, current?: { readonly name: string }) => {
      told.push(`${kind} ${previous?.name ?? '-'} → ${current?.name ?? '-'}`);
    };
    watch = watchCluster({
      transport,
      nodeName: 'node-a',
      otherNodes,
      clock,
      random: () => 0.5,
      tap: (kind, type, object) => tapped.push(`${kind} ${type} ${JSON.stringify(object)}`),
      handler: {
        service: change('service'),
        slice: change('slice'),
        node: change('node'),
        otherNode: (previous, current) => told.push(`other ${previous ?? '-'} → ${current ?? '-'}`),
        listed: (late) => told.push(['listed', ...late].join(' without ')),
        repeated: () => told.push('repeated'),
        problem: ({ object, field }) => told.push(`problem ${object} ${field}`),
        trouble: (resource, message, retryInMs) =>
          told.push(`trouble ${resource}: ${message}, again in ${retryInMs > 0}`),
        recovered: (resource) => told.push(`recovered ${resource}`),
      },
    });
    watch.start();
  }
  beforeEach(() => begin('ignored'));
  afterEach(() => watch.stop());

  const meta = (name: string, more: object = {}) => ({
    name,
    namespace: 'shop',
    uid: name,
    resourceVersion: '5',
    ...more,
  });
  const list = (...items: readonly unknown[]) => ({ metadata: { resourceVersion: '9' }, items });
  const cart = { metadata: meta('cart'), spec: { clusterIP: '172.20.1.1', ports: [{ port: 80 }] } };
  const cartSlice = {
    metadata: meta('cart-1', { labels: { 'kubernetes.io/service-name': 'cart' } }),
    addressType: 'IPv4',
    ports: [{ port: 8080 }],
    endpoints: [{ addresses: ['10.180.0.1'] }],
  };

  /** The last request for a resource, by the end of its path; for `nodes` by its selector too. */
  async function request(resource: string, kind: 'list' | 'watch', fieldSelector?: string) {
    await settle();
    const found = transport.calls.findLast(
      ({ request: { path }, query }) =>
        path.endsWith(resource) &&
        'watch' in query === (kind === 'watch') &&
        (fieldSelector === undefined || query.fieldSelector === fieldSelector),
    );
    if (!found) throw new Error(`there is no request to ${kind} ${resource}`);
    return found;
  }

  it('asks for Services, slices and the own Node, as far as they concern it', async () => {
    await settle();
    const asked = transport.calls.map(({ request: { path }, query }) => [
      path,
      query.labelSelector,
      query.fieldSelector,
    ]);
    expect(asked).to.have.deep.members([
      ['/api/v1/services', '!service.kubernetes.io/service-proxy-name', 'spec.clusterIP!=None'],
      ['/apis/discovery.k8s.io/v1/endpointslices', '!service.kubernetes.io/headless', undefined],
      ['/api/v1/nodes', undefined, 'metadata.name=node-a'],
    ]);
  });

  it('tells once that everything is listed, after the last of the three', async () => {
    await (await request('services', 'list')).answer(list(cart));
    await (await request('nodes', 'list')).answer(list());
    expect(told).to.deep.equal(['service - → shop/cart']);
    await (await request('endpointslices', 'list')).answer(list(cartSlice));
    await settle();
    expect(told).to.deep.equal(['service - → shop/cart', 'slice - → shop/cart-1', 'listed']);
  });

  it('tells of later changes with what was before', async () => {
    await (await request('services', 'list')).answer(list(cart));
    const events = (await request('services', 'watch')).open();
    told = [];
    events.event('MODIFIED', { ...cart, metadata: meta('cart', { resourceVersion: '10' }) });
    events.event('DELETED', { ...cart, metadata: meta('cart', { resourceVersion: '11' }) });
    await settle();
    expect(told.at(-1)).to.equal('service shop/cart → -');
  });

  it('tells of a version that comes again, and of nothing else because of it', async () => {
    await (await request('services', 'list')).answer(list(cart));
    const events = (await request('services', 'watch')).open();
    const newer = { ...cart, metadata: meta('cart', { resourceVersion: '10' }) };
    events.event('MODIFIED', newer);
    await settle();
    told = [];
    events.event('MODIFIED', newer);
    await settle();
    expect(told).to.deep.equal(['repeated']);
  });

  it('lets a tap hear of each object with its kind, as the server gives it', async () => {
    const nodeA = { metadata: { name: 'node-a', uid: 'a', resourceVersion: '5' } };
    await (await request('services', 'list')).answer(list(cart));
    await (await request('nodes', 'list')).answer(list(nodeA));
    await (await request('endpointslices', 'list')).answer(list(cartSlice));
    const events = (await request('services', 'watch')).open();
    events.event('DELETED', { ...cart, metadata: meta('cart', { resourceVersion: '11' }) });
    await settle();
    expect(tapped).to.deep.equal([
      `Service ADDED ${JSON.stringify(cart)}`,
      `Node ADDED ${JSON.stringify(nodeA)}`,
      `EndpointSlice ADDED ${JSON.stringify(cartSlice)}`,
      'Service DELETED {"metadata":{"namespace":"shop","name":"cart","uid":"cart","resourceVersion":"5"}}',
    ]);
  });

  it('decodes each kind and tells what is wrong with an object', async () => {
    await (await request('nodes', 'list')).answer(list({ metadata: meta('node-a'), spec: { podCIDRs: ['junk'] } }));
    await (await request('endpointslices', 'list')).answer(list({ ...cartSlice, addressType: 'MAC' }));
    expect(told).to.include.members([
      'problem Node shop/node-a spec.podCIDRs[0]',
      'node - → node-a',
      'problem EndpointSlice shop/cart-1 addressType',
    ]);
  });

  it('tells which resource cannot be had and when it can again', async () => {
    await (await request('services', 'list')).fail({
      kind: 'refused',
      status: 403,
      reason: 'Forbidden',
      message: 'no',
    });
    await settle();
    expect(told).to.have.lengthOf(1);
    expect(told[0]).to.match(/^trouble services: .*403.*, again in true$/);
  });

  it('ends all three when stopped', async () => {
    await settle();
    await watch.stop();
    expect(transport.calls.map(({ aborted }) => aborted)).to.deep.equal([true, true, true]);
  });

  describe('with the other Nodes', () => {
    const node = (name: string, version: string, ...addresses: readonly string[]) => ({
      metadata: { name, uid: name, resourceVersion: version },
      status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
    });
    const forbidden = { kind: 'refused', status: 403, reason: 'Forbidden', message: 'no' } as const;
    const others = (kind: 'list' | 'watch') => request('nodes', kind, 'metadata.name!=node-a');
    const tellings = (start: string) => told.filter((line) => line.startsWith(start));

    /** Answers the three lists that are always needed. */
    async function answerNeeded(): Promise<void> {
      await (await request('services', 'list')).answer(list());
      await (await request('endpointslices', 'list')).answer(list());
      await (await request('nodes', 'list', 'metadata.name=node-a')).answer(list(node('node-a', '5', '192.168.0.10')));
    }

    beforeEach(async () => {
      await watch.stop();
      begin('watched');
    });

    it('asks for them by a request of their own', async () => {
      await settle();
      expect(transport.calls).to.have.lengthOf(4);
      expect(Object.keys((await others('list')).query)).to.not.include('labelSelector');
    });

    it('tells of their addresses as they come, change and go', async () => {
      await (await others('list')).answer(list(node('node-b', '5', '192.168.0.11'), node('node-c', '6')));
      const events = (await others('watch')).open();
      events.event('MODIFIED', node('node-b', '10', '192.168.0.12'));
      events.event('ADDED', node('node-d', '11', '192.168.0.13'));
      events.event('DELETED', node('node-b', '12', '192.168.0.12'));
      expect(told).to.deep.equal([
        'other - → 192.168.0.11',
        'other - → ',
        'other 192.168.0.11 → 192.168.0.12',
        'other - → 192.168.0.13',
        'other 192.168.0.12 → -',
      ]);
    });

    it('waits for them before it tells that everything is listed', async () => {
      await answerNeeded();
      expect(tellings('listed')).to.deep.equal([]);
      await (await others('list')).answer(list(node('node-b', '5', '192.168.0.11')));
      expect(told.slice(-2)).to.deep.equal(['other - → 192.168.0.11', 'listed']);
    });

    it('waits for them 10 seconds at most once the rest is there, tells that they are late, and of them when they come', async () => {
      await clock.advance(20_000);
      await answerNeeded();
      await clock.advance(9_999);
      expect(tellings('listed')).to.deep.equal([]);
      await clock.advance(1);
      expect(tellings('listed')).to.deep.equal(['listed without other nodes']);
      await (await others('list')).answer(list(node('node-b', '5', '192.168.0.11')));
      expect(told.at(-1)).to.equal('other - → 192.168.0.11');
      expect(tellings('listed')).to.have.lengthOf(1);
    });

    it('does without them, and asks again and again, where they are forbidden', async () => {
      await answerNeeded();
      await (await others('list')).fail(forbidden);
      expect(told.at(-1)).to.match(/^trouble other nodes: .*403.*, again in true$/);
      for (let attempt = 0; attempt < 4; attempt += 1) {
        await clock.advance(15_000);
        await (await others('list')).fail(forbidden);
      }
      expect(tellings('trouble other')).to.have.lengthOf(1);
      expect(tellings('listed')).to.deep.equal(['listed without other nodes']);
      await clock.advance(15_000);
      await (await others('list')).answer(list(node('node-b', '5', '192.168.0.11')));
      expect(told.at(-1)).to.equal('other - → 192.168.0.11');
      (await others('watch')).open();
      await clock.advance(10_000);
      expect(tellings('recovered')).to.deep.equal(['recovered other nodes']);
    });

    it('forgets none of them when they are forbidden later', async () => {
      await (await others('list')).answer(list(node('node-b', '5', '192.168.0.11')));
      await (await others('watch')).fail(forbidden);
      await clock.advance(15_000);
      await (await others('watch')).fail(forbidden);
      expect(tellings('other')).to.deep.equal(['other - → 192.168.0.11']);
      expect(tellings('trouble other')).to.have.lengthOf(1);
    });

    it('tells nothing any more once it is stopped while it waits for them', async () => {
      await answerNeeded();
      await watch.stop();
      await clock.advance(60_000);
      expect(tellings('listed')).to.deep.equal([]);
    });
  });
});
