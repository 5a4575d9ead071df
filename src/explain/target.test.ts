import { expect } from 'chai';
import { parseTarget } from './target.ts';

describe('explain/target', () => {
  const service = (namespace: string | undefined, name: string, port?: string, protocol?: string) =>
    ({ kind: 'service', namespace, name, port, protocol }) as const;
  const frontend = (address: string, port?: number, protocol?: string) =>
    ({ kind: 'frontend', address, port, protocol }) as const;
  const cases = [
    { text: 'cart', target: service(undefined, 'cart') },
    { text: 'shop/cart', target: service('shop', 'cart') },
    { text: 'cart:http', target: service(undefined, 'cart', 'http') },
    { text: 'shop/cart:80', target: service('shop', 'cart', '80') },
    { text: 'shop/cart:dns/UDP', target: service('shop', 'cart', 'dns', 'UDP') },
    { text: 'shop/cart:/TCP', target: service('shop', 'cart', '', 'TCP') },
    { text: 'cart.shop', target: service('shop', 'cart') },
    { text: 'cart.shop.svc:80', target: service('shop', 'cart', '80') },
    { text: 'cart.shop.svc.cluster.local:dns/udp', target: service('shop', 'cart', 'dns', 'UDP') },
    { text: 'cart.shop.example', target: service(undefined, 'cart.shop.example') },
    { text: '10.96.0.10:80', target: frontend('10.96.0.10', 80) },
    { text: '10.96.0.10:53/udp', target: frontend('10.96.0.10', 53, 'UDP') },
    { text: '10.96.0.10', target: frontend('10.96.0.10') },
    { text: '[fd00:0::1]:80/SCTP', target: frontend('fd00::1', 80, 'SCTP') },
    { text: 'FD00::1', target: frontend('fd00::1') },
  ];
  for (const { text, target } of cases) {
    it(`reads ${text}`, () => expect(parseTarget(text)).to.deep.equal(target));
  }

  for (const text of ['', 'a/b/c', 'shop/', '/cart', '10.96.0.10:0', '10.96.0.10:70000', '10.96.0.10:80/ICMP', 'a b']) {
    it(`knows nothing of ${JSON.stringify(text)}`, () => expect(parseTarget(text)).to.equal(undefined));
  }
});
