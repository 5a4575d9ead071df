import { expect } from 'chai';
import { decodeObjects } from './cluster-objects.ts';

describe('kube/cluster-objects', () => {
  const serviceJson = (name: string, more: object = {}, labels: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name, labels },
    spec: { clusterIP: '172.20.1.1', ports: [{ port: 80 }], ...more },
  });
  const sliceJson = (name: string, labels: object = {}) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': 'cart', ...labels } },
    addressType: 'IPv4',
    ports: [{ port: 8080 }],
    endpoints: [{ addresses: ['10.180.0.1'] }],
  });
  const nodeJson = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } };

  function names(objects: readonly unknown[]) {
    const { services, slices, nodes, problems, ignored } = decodeObjects(objects);
    const of = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
    return {
      services: of(services),
      slices: of(slices),
      nodes: of(nodes),
      problems: problems.length,
      ignored: [...ignored],
    };
  }

  const nothing = { services: [], slices: [], nodes: [], problems: 0, ignored: [] };
  const everything = { ...nothing, services: ['shop/cart'], slices: ['shop/cart-1'], nodes: ['node-a'] };

  it('gives records that nobody can change, at any depth', () => {
    const status = { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } };
    const lists = { externalIPs: ['203.0.113.1'], loadBalancerSourceRanges: ['192.0.2.0/24'] };
    const hints = { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-a' }] };
    const addresses = [{ type: 'InternalIP', address: '192.168.0.10' }];
    const { services, slices, nodes } = decodeObjects([
      { ...serviceJson('cart', lists), status },
      { ...sliceJson('cart-1'), endpoints: [{ addresses: ['10.180.0.1'], hints }, { addresses: ['10.180.0.2'] }] },
      { ...nodeJson, spec: { podCIDRs: ['10.180.0.0/24'] }, status: { addresses } },
    ]);
    const changeable = (value: unknown, path: string): readonly string[] =>
      typeof value !== 'object' || value === null
        ? []
        : [
            ...(Object.isFrozen(value) ? [] : [path]),
            ...Object.entries(value).flatMap(([key, part]) => changeable(part, `${path}.${key}`)),
          ];
    const records = [...services, ...slices, ...nodes];
    expect(records).to.have.lengthOf(3);
    expect(records.flatMap((each) => changeable(each, each.name))).to.deep.equal([]);
  });

  it('sorts objects by kind', () => {
    expect(names([sliceJson('cart-1'), nodeJson, serviceJson('cart')])).to.deep.equal(everything);
    expect(names([])).to.deep.equal(nothing);
  });

  it('opens lists, and lists in lists', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [
        serviceJson('cart'),
        { apiVersion: 'v1', kind: 'List', items: [nodeJson, { kind: 'List', items: [sliceJson('cart-1')] }] },
      ],
    };
    expect(names([list])).to.deep.equal(everything);
  });

  it('knows items of a typed list that do not say their own kind', () => {
    const { metadata, spec } = serviceJson('cart');
    const { apiVersion: _, kind: __, ...bareSlice } = sliceJson('cart-1');
    const lists = [
      { apiVersion: 'v1', kind: 'ServiceList', items: [{ metadata, spec }] },
      { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSliceList', items: [bareSlice] },
      { apiVersion: 'v1', kind: 'NodeList', items: [{ metadata: nodeJson.metadata }] },
    ];
    expect(names(lists)).to.deep.equal(everything);
  });

  it('counts kinds that do not concern it, also old forms of those that do', () => {
    const pod = { apiVersion: 'v1', kind: 'Pod' };
    const old = { ...sliceJson('cart-1'), apiVersion: 'discovery.k8s.io/v1beta1' };
    const list = { kind: 'List', items: [pod, { kind: 'Pod' }, { apiVersion: 'v1' }] };
    expect(names([pod, old, list, 'text', 7]).ignored).to.deep.equal([
      ['v1 Pod', 2],
      ['discovery.k8s.io/v1beta1 EndpointSlice', 1],
      ['no apiVersion Pod', 1],
      ['v1 no kind', 1],
      ['no apiVersion no kind', 2],
    ]);
  });

  it('leaves out, without counting them, objects that the API server would not send', () => {
    const objects = [
      serviceJson('proxied', {}, { 'service.kubernetes.io/service-proxy-name': 'other' }),
      serviceJson('headless', { clusterIP: 'None' }),
      sliceJson('headless-1', { 'service.kubernetes.io/headless': '' }),
    ];
    expect(names(objects)).to.deep.equal(nothing);
  });

  it('tells apart what is headless from what another proxy serves, and takes the later of one name', () => {
    const proxied = { 'service.kubernetes.io/service-proxy-name': 'other' };
    const { services, unselected, problems } = decodeObjects([
      serviceJson('proxied', { ports: [{ port: 0 }] }, proxied),
      serviceJson('headless', { clusterIP: 'None' }),
      serviceJson('cart'),
      serviceJson('cart', { clusterIP: 'None' }),
      serviceJson('web', {}, proxied),
      serviceJson('web'),
    ]);
    expect(services.map(({ name }) => name)).to.deep.equal(['shop/web']);
    expect(unselected.map(({ service, otherProxy }) => [service.name, otherProxy])).to.deep.equal([
      ['shop/proxied', 'other'],
      ['shop/headless', undefined],
      ['shop/cart', undefined],
    ]);
    expect(problems).to.deep.equal([]);
  });

  it('takes a Service with the headless label that has an address', () => {
    expect(names([serviceJson('cart', {}, { 'service.kubernetes.io/headless': '' })]).services).to.deep.equal([
      'shop/cart',
    ]);
  });

  it('lets the later of two objects with the same name count', () => {
    const { services } = decodeObjects([
      serviceJson('cart'),
      serviceJson('other'),
      serviceJson('cart', { clusterIP: '172.20.1.9' }),
    ]);
    expect(services.map(({ name, clusterIP }) => [name, clusterIP])).to.deep.equal([
      ['shop/cart', '172.20.1.9'],
      ['shop/other', '172.20.1.1'],
    ]);
  });

  it('keeps the others when one object is bad, and collects what is wrong', () => {
    const objects = [
      serviceJson(''),
      serviceJson('cart', { ports: [{ port: 0 }] }),
      sliceJson('cart-1'),
      { ...nodeJson, metadata: {} },
    ];
    const { services, slices, problems } = decodeObjects(objects);
    expect([services, slices].map((list) => list.length)).to.deep.equal([1, 1]);
    expect(problems.map(({ object, field }) => `${object} ${field}`)).to.deep.equal([
      'Service shop/ metadata.name',
      'Service shop/cart spec.ports[0].port',
      'Node without a name metadata.name',
    ]);
  });
});
