import { expect } from 'chai';
import { FakeTransport } from '../../test/apiserver/fake-transport.ts';
import { listUnselected } from './unselected-services.ts';

describe('kube/unselected-services', () => {
  const item = (namespace: string, spec: object, labels: object = {}) => ({
    metadata: { namespace, name: 'cart', labels },
    spec: { ports: [{ port: 80 }], ...spec },
  });

  it('lists by its name what is not for this proxy', async () => {
    const transport = new FakeTransport();
    const listed = listUnselected(transport, { name: 'cart' });
    const call = await transport.next();
    expect([call.request.path, call.query.fieldSelector]).to.deep.equal(['/api/v1/services', 'metadata.name=cart']);
    await call.answer({
      kind: 'ServiceList',
      items: [
        item('shop', { clusterIP: 'None' }),
        item('mall', { clusterIP: '172.20.1.1' }),
        item('far', { clusterIP: '172.20.1.2' }, { 'service.kubernetes.io/service-proxy-name': 'other' }),
      ],
    });
    const result = await listed;
    expect(result.ok && result.value.map(({ service, otherProxy }) => [service.name, otherProxy])).to.deep.equal([
      ['shop/cart', undefined],
      ['far/cart', 'other'],
    ]);
  });

  it('says in one line that they cannot be listed', async () => {
    const transport = new FakeTransport();
    const listed = listUnselected(transport, 'addressed');
    const call = await transport.next();
    expect([call.query.fieldSelector, call.query.labelSelector]).to.deep.equal([
      undefined,
      'service.kubernetes.io/service-proxy-name',
    ]);
    await call.fail({ kind: 'unreachable', url: '/x', message: 'ECONNREFUSED' });
    expect(await listed).to.deep.equal({ ok: false, error: 'services could not be listed: /x: ECONNREFUSED' });
  });
});
