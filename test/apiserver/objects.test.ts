import { expect } from 'chai';
import { type JsonRecord, listOf, recordOf, valueAt } from './api-object.ts';
import { callApi } from './call-api.ts';
import { type ApiServer, startApiServer } from './server.ts';

describe('test/apiserver/server: objects', () => {
  let api: ApiServer;
  const services = '/api/v1/namespaces/shop/services';
  const service = (name: string, spec: JsonRecord = {}) => ({
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  });
  const get = (path: string) => callApi(api, { path });
  const post = (path: string, body: unknown) => callApi(api, { method: 'POST', path, body });
  const put = (path: string, body: unknown) => callApi(api, { method: 'PUT', path, body });
  const patch = (path: string, type: string, body: unknown) =>
    callApi(api, { method: 'PATCH', path, body, headers: { 'Content-Type': `application/${type}` } });
  const remove = (path: string, body?: unknown) => callApi(api, { method: 'DELETE', path, body });
  const names = (list: unknown) => listOf(recordOf(list).items).map((item) => valueAt(item, ['metadata', 'name']));

  beforeEach(async () => {
    api = await startApiServer();
  });
  afterEach(() => api.stop());

  it('creates an object with the metadata that the server sets', async () => {
    const { status, body } = await post(services, service('cart'));
    expect(status).to.equal(201);
    expect(body).to.deep.include({ kind: 'Service', apiVersion: 'v1' });
    expect(body.metadata).to.include({ name: 'cart', namespace: 'shop', resourceVersion: '2', generation: 1 });
    expect(body.metadata).to.include.keys('uid', 'creationTimestamp');
    expect((await get(`${services}/cart`)).body).to.deep.equal(body);
  });

  it('answers with Status objects when a name is taken, unknown or missing', async () => {
    await post(services, service('cart'));
    expect((await post(services, service('cart'))).body).to.include({
      kind: 'Status',
      code: 409,
      reason: 'AlreadyExists',
    });
    expect((await get(`${services}/none`)).body).to.include({
      code: 404,
      reason: 'NotFound',
      message: 'services "none" not found',
    });
    expect((await post(services, { metadata: {} })).body).to.include({ code: 422, reason: 'Invalid' });
    expect((await post(services, { ...service('x'), metadata: { name: 'x', namespace: 'other' } })).status).to.equal(
      400,
    );
    expect((await get('/api/v1/pods')).body).to.include({ kind: 'Status', code: 404 });
    expect((await post('/api/v1/namespaces', { metadata: { name: 'x' } })).status).to.equal(405);
  });

  it('refuses an update based on an old version and counts generations of content only', async () => {
    const created = (await post(services, service('cart'))).body;
    const updated = await put(`${services}/cart`, {
      ...created,
      spec: { ...recordOf(created.spec), type: 'NodePort' },
    });
    expect(updated.body).to.have.nested.property('metadata.generation', 2);
    expect((await put(`${services}/cart`, created)).body).to.include({ code: 409, reason: 'Conflict' });
    const labelled = await patch(`${services}/cart`, 'merge-patch+json', { metadata: { labels: { a: 'b' } } });
    expect(labelled.body).to.have.nested.property('metadata.generation', 2);
    expect(labelled.body).to.have.nested.property('metadata.resourceVersion', '4');
  });

  it('leaves the version of an object alone when nothing changes', async () => {
    await post(services, service('cart'));
    const same = await patch(`${services}/cart`, 'merge-patch+json', { spec: { type: 'ClusterIP' } });
    expect(same.body).to.have.nested.property('metadata.resourceVersion', '2');
  });

  it('writes status by its subresource only', async () => {
    const created = (await post(services, service('cart', { type: 'LoadBalancer' }))).body;
    const status = { loadBalancer: { ingress: [{ ip: '192.168.7.1' }] } };
    await put(`${services}/cart`, { ...created, status });
    expect((await get(`${services}/cart`)).body.status).to.deep.equal({ loadBalancer: {} });
    await patch(`${services}/cart/status`, 'merge-patch+json', { status, spec: { type: 'ClusterIP' } });
    const { body } = await get(`${services}/cart`);
    expect(body.status).to.deep.equal(status);
    expect(body).to.have.nested.property('spec.type', 'LoadBalancer');
  });

  it('takes every kind of patch', async () => {
    await post(services, service('cart'));
    await patch(`${services}/cart`, 'strategic-merge-patch+json', { spec: { ports: [{ port: 81 }] } });
    await patch(`${services}/cart`, 'json-patch+json', [
      { op: 'add', path: '/metadata/annotations', value: { a: 'b' } },
    ]);
    await patch(`${services}/cart`, 'apply-patch+yaml', 'spec: {selector: {app: cart}}');
    const { body } = await get(`${services}/cart`);
    expect(body).to.have.nested.property('spec.ports').with.length(2);
    expect(body).to.have.nested.property('metadata.annotations.a', 'b');
    expect(body).to.have.nested.property('spec.selector.app', 'cart');
    expect((await patch(`${services}/cart`, 'json', {})).status).to.equal(415);
    expect((await patch(`${services}/none`, 'merge-patch+json', {})).status).to.equal(404);
    expect(
      (await patch(`${services}/none`, 'apply-patch+yaml', 'spec: {ports: [{port: 1}]}')).body,
    ).to.have.nested.property('metadata.name', 'none');
  });

  it('deletes one object and collections, and honours preconditions and finalizers', async () => {
    for (const name of ['a', 'b', 'c']) await post(services, service(name));
    await post('/api/v1/namespaces/other/services', service('a'));
    expect((await remove(`${services}/a`, { preconditions: { uid: 'x' } })).status).to.equal(409);
    expect((await remove(`${services}/a`)).body).to.include({ kind: 'Status', status: 'Success' });
    expect((await remove(services)).status).to.equal(200);
    expect(names((await get('/api/v1/services')).body)).to.deep.equal(['a']);
    await post(services, { ...service('held'), metadata: { name: 'held', finalizers: ['x/y'] } });
    expect((await remove(`${services}/held`)).body).to.have.nested.property('metadata.deletionTimestamp');
    await patch(`${services}/held`, 'merge-patch+json', { metadata: { finalizers: null } });
    expect((await get(`${services}/held`)).status).to.equal(404);
  });

  it('stores nothing in a dry run', async () => {
    expect((await post(`${services}?dryRun=All`, service('cart'))).status).to.equal(201);
    expect(api.list('Service')).to.deep.equal([]);
  });

  it('serves Nodes without a namespace, and namespaces that are in use', async () => {
    await post('/api/v1/nodes', {
      metadata: { name: 'node-a' },
      status: { addresses: [{ type: 'InternalIP', address: '192.168.0.10' }] },
    });
    expect((await get('/api/v1/nodes/node-a')).body)
      .to.have.nested.property('status.addresses')
      .with.length(1);
    await post(services, service('cart'));
    expect(names((await get('/api/v1/namespaces')).body)).to.deep.equal(['default', 'kube-system', 'shop']);
    expect((await get('/api/v1/namespaces/any')).body).to.include({ kind: 'Namespace' });
  });

  it('shows the same Event in both of its groups', async () => {
    const path = '/apis/events.k8s.io/v1/namespaces/default/events';
    await post(path, {
      metadata: { name: 'e' },
      regarding: { kind: 'Node', name: 'node-a' },
      note: 'hello',
      reason: 'Starting',
      type: 'Normal',
    });
    const core = (await get('/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=node-a')).body;
    expect(listOf(core.items)[0]).to.deep.include({
      involvedObject: { kind: 'Node', name: 'node-a' },
      message: 'hello',
    });
    expect((await get(`${path}/e`)).body).to.include({ apiVersion: 'events.k8s.io/v1', note: 'hello' });
  });

  it('applies and deletes for tests with status and without versions', () => {
    const first = api.apply({
      apiVersion: 'v1',
      kind: 'Service',
      ...service('cart'),
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    });
    const second = api.apply({ apiVersion: 'v1', kind: 'Service', ...service('cart', { type: 'NodePort' }) });
    expect(second.metadata).to.include({ namespace: 'default', uid: first.metadata.uid });
    expect(second).to.have.nested.property('spec.clusterIP', valueAt(first, ['spec', 'clusterIP']));
    expect(api.delete({ kind: 'Service', name: 'cart' })).to.equal(true);
    expect(api.delete({ kind: 'Service', name: 'cart' })).to.equal(false);
    expect(() => api.apply({ kind: 'Pod', metadata: { name: 'x' } })).to.throw(/no kind/);
  });
});
