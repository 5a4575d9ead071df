import { expect } from 'chai';
import { FakeTransport } from '../../test/apiserver/fake-transport.ts';
import { SteppedClock, settle } from '../../test/stepped-clock.ts';
import { type ClusterWatch, watchCluster } from './watch-cluster.ts';

describe('kube/watch-cluster', () => {
  let transport: FakeTransport;
  let watch: ClusterWatch;
  let told: string[];

  beforeEach(() => {
    transport = new FakeTransport();
    told = [];
    const change = (kind: string) => (previous?: { readonly name: string }, current?: { readonly name: string }) => {
      told.push(`${kind} ${previous?.name ?? '-'} → ${current?.name ?? '-'}`);
    };
    watch = watchCluster({
      transport,
      nodeName: 'node-a',
      clock: new SteppedClock(),
      random: () => 0.5,
      handler: {
        service: change('service'),
        slice: change('slice'),
        node: change('node'),
        listed: () => told.push('listed'),
        problem: ({ object, field }) => told.push(`problem ${object} ${field}`),
        trouble: (resource, message, retryInMs) =>
          told.push(`trouble ${resource}: ${message}, again in ${retryInMs > 0}`),
        recovered: (resource) => told.push(`recovered ${resource}`),
      },
    });
    watch.start();
  });
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

  /** The first request that is still open for a resource. */
  async function request(resource: string, kind: 'list' | 'watch') {
    await settle();
    const found = transport.calls.findLast(
      ({ request: { path }, query }) => path.endsWith(resource) && 'watch' in query === (kind === 'watch'),
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
});
