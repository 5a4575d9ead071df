import { expect } from 'chai';
import { listOf, valueAt } from './api-object.ts';
import { callApi } from './call-api.ts';
import { type ApiServer, startApiServer } from './server.ts';

describe('test/apiserver/server: lists', () => {
  let api: ApiServer;
  const list = async (query: string) =>
    (await callApi(api, { path: `/apis/discovery.k8s.io/v1/endpointslices?${query}` })).body;
  const names = (body: unknown) => listOf(valueAt(body, ['items'])).map((item) => valueAt(item, ['metadata', 'name']));
  const add = (name: string, app = 'cart') =>
    api.apply({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, labels: { app } },
      addressType: 'IPv4',
      endpoints: [],
    });

  beforeEach(async () => {
    api = await startApiServer();
    for (const name of ['a', 'b', 'c', 'd', 'e']) add(name, name < 'd' ? 'cart' : 'shop');
  });
  afterEach(() => api.stop());

  it('answers with a list object whose items carry no kind', async () => {
    const body = await list('');
    expect(body).to.include({ kind: 'EndpointSliceList', apiVersion: 'discovery.k8s.io/v1' });
    expect(body.metadata).to.deep.equal({ resourceVersion: '6' });
    expect(names(body)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    expect(listOf(body.items)[0]).to.not.have.any.keys('kind', 'apiVersion');
  });

  it('chooses by labels and by fields', async () => {
    expect(names(await list('labelSelector=app%3Dshop'))).to.deep.equal(['d', 'e']);
    expect(names(await list('fieldSelector=metadata.name%3Db'))).to.deep.equal(['b']);
    expect(names(await list('fieldSelector=metadata.name!%3Db,metadata.namespace%3D%3Ddefault'))).to.deep.equal([
      'a',
      'c',
      'd',
      'e',
    ]);
    expect(await list('fieldSelector=spec.nothing%3D1')).to.include({ code: 400 });
  });

  it('pages through the state of the first page', async () => {
    const first = await list('limit=2');
    expect(names(first)).to.deep.equal(['a', 'b']);
    expect(first).to.have.nested.property('metadata.remainingItemCount', 3);
    api.delete({ kind: 'EndpointSlice', name: 'c' });
    add('f');
    const second = await list(`limit=2&continue=${valueAt(first, ['metadata', 'continue'])}`);
    expect(names(second)).to.deep.equal(['c', 'd']);
    expect(second).to.have.nested.property('metadata.resourceVersion', '6');
    const third = await list(`limit=2&continue=${valueAt(second, ['metadata', 'continue'])}`);
    expect(names(third)).to.deep.equal(['e']);
    expect(third).to.not.have.nested.property('metadata.continue');
  });

  it('ignores the limit of a list that takes any version', async () => {
    expect(names(await list('limit=2&resourceVersion=0'))).to.have.length(5);
  });

  it('refuses pages and exact versions that are compacted with 410', async () => {
    const first = await list('limit=2');
    api.compact();
    expect(await list(`continue=${valueAt(first, ['metadata', 'continue'])}`)).to.include({
      code: 410,
      reason: 'Expired',
    });
    expect(await list('resourceVersion=3&resourceVersionMatch=Exact')).to.include({ code: 410 });
    expect(await list('continue=nonsense')).to.include({ code: 400 });
  });

  it('shows an exact version and refuses one from the future', async () => {
    expect(names(await list('resourceVersion=3&resourceVersionMatch=Exact'))).to.deep.equal(['a', 'b']);
    expect(await list('resourceVersion=99')).to.include({ code: 504, reason: 'Timeout' });
  });

  it('compresses long lists, only for clients that take it', async () => {
    for (let n = 0; n < 1000; n += 1) add(`slice-${n}`);
    const path = '/apis/discovery.k8s.io/v1/endpointslices';
    const plain = await callApi(api, { path });
    expect(plain.headers).to.not.have.property('content-encoding');
    const zipped = await callApi(api, { path, headers: { 'Accept-Encoding': 'gzip' } });
    expect(zipped.headers).to.have.property('content-encoding', 'gzip');
    expect(names(zipped.body)).to.deep.equal(names(plain.body));
  });

  it('shows tables and bare metadata when asked to', async () => {
    const path = '/apis/discovery.k8s.io/v1/endpointslices';
    const table = await callApi(api, {
      path,
      headers: { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    });
    expect(table.body).to.include({ kind: 'Table' });
    const cells = listOf(valueAt(table.body, ['rows'])).map((row) => listOf(valueAt(row, ['cells'])).slice(0, 4));
    expect(cells[0]).to.deep.equal(['a', 'IPv4', '<unset>', '<unset>']);
    const bare = await callApi(api, {
      path,
      headers: { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
    });
    expect(listOf(bare.body.items)[0]).to.have.all.keys('kind', 'apiVersion', 'metadata');
  });
});
