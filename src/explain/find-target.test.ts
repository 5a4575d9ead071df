import { expect } from 'chai';
import { ip } from '../../test/builders/net.ts';
import { nodeView, service, settings, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { computeOnce } from '../sync/compute-once.ts';
import { findTarget } from './find-target.ts';
import { parseTarget } from './target.ts';

describe('explain/find-target', () => {
  const services = [
    service({ externalIPs: [ip('203.0.113.7')] }),
    service({ name: 'shop/web', addresses: ['172.20.1.2'], externalIPs: [ip('203.0.113.7')] }),
    service({ name: 'mall/web', addresses: ['172.20.1.3'] }),
    service({ name: 'shop/out', type: 'ExternalName', ports: [] }),
  ];
  const unselected = [
    service({ name: 'shop/mesh', addresses: ['172.20.1.9'], externalIPs: [ip('203.0.113.7'), ip('203.0.113.9')] }),
    service({ name: 'shop/headless', clusterIP: 'None', addresses: [] }),
  ];
  const slices = [slice({ endpoints: [sliceEndpoint('10.180.0.1')] })];
  const families = computeOnce({ services, slices }, nodeView(), ['IPv4'], settings());

  function found(text: string) {
    const target = parseTarget(text);
    if (!target) throw new Error(`no target: ${text}`);
    const result = findTarget(target, { services, unselected }, families);
    return result.ok ? result.value.map(({ name }) => name) : result.error;
  }

  it('finds a Service by its name, with or without its namespace, and by a port', () => {
    expect(found('cart')).to.deep.equal(['shop/cart']);
    expect(found('mall/web')).to.deep.equal(['mall/web']);
    expect(found('cart:80')).to.deep.equal(['shop/cart']);
    expect(found('cart:http/TCP')).to.deep.equal(['shop/cart']);
    expect(found('shop/out:80')).to.deep.equal(['shop/out']);
  });

  it('finds by an address whoever asks for it', () => {
    expect(found('172.20.1.1:80')).to.deep.equal(['shop/cart']);
    expect(found('203.0.113.7:80')).to.deep.equal(['shop/cart', 'shop/web']);
    expect(found('172.20.1.2')).to.deep.equal(['shop/web']);
  });

  it('finds by an address who leaves it to another proxy, unless it is served here as well', () => {
    expect(found('172.20.1.9:80')).to.deep.equal(['shop/mesh']);
    expect(found('203.0.113.9')).to.deep.equal(['shop/mesh']);
    expect(found('203.0.113.7:80')).to.deep.equal(['shop/cart', 'shop/web']);
    expect(found('172.20.1.9:81')).to.have.property('kind', 'no-frontend');
    expect(found('172.20.1.9:80/UDP')).to.have.property('kind', 'no-frontend');
  });

  it('asks for the namespace of a name that several have', () =>
    expect(found('web')).to.deep.equal({
      kind: 'several-services',
      name: 'web',
      candidates: ['mall/web', 'shop/web'],
    }));

  it('names what there is instead: the same name elsewhere, or all names', () => {
    expect(found('mall/cart')).to.deep.equal({ kind: 'no-service', name: 'mall/cart', candidates: ['shop/cart'] });
    expect(found('crt')).to.deep.equal({
      kind: 'no-service',
      name: 'crt',
      candidates: ['mall/web', 'shop/cart', 'shop/headless', 'shop/mesh', 'shop/out', 'shop/web'],
    });
  });

  it('names the ports that a Service has', () =>
    expect(found('cart:https')).to.deep.equal({
      kind: 'no-port',
      service: 'shop/cart',
      port: 'https',
      candidates: ['http 80/TCP'],
    }));

  it('tells an endpoint, and other ports of an address, from one that nobody has', () => {
    const all = ['TCP 172.20.1.1:80', 'TCP 172.20.1.2:80', 'TCP 172.20.1.3:80', 'TCP 203.0.113.7:80'];
    expect(found('10.180.0.1:8080')).to.deep.equal({
      kind: 'no-frontend',
      frontend: '10.180.0.1:8080',
      endpointOf: ['shop/cart:http/TCP'],
      sameAddress: [],
      candidates: all,
    });
    expect(found('172.20.1.1:81')).to.deep.include({ endpointOf: [], sameAddress: ['TCP 172.20.1.1:80'] });
    expect(found('172.20.1.1:80/UDP')).to.deep.include({
      frontend: '172.20.1.1:80/UDP',
      sameAddress: ['TCP 172.20.1.1:80'],
    });
    expect(found('172.20.9.9:80')).to.deep.include({ sameAddress: [], candidates: all });
  });
});
