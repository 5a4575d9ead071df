import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { OwnedFrontend } from '../desired/claims.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import type { RealServerKey, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { Refused } from '../plan/refused.ts';
import { wantersIn } from './wanted-by.ts';

describe('sync/wanted-by', () => {
  const cart = servicePort({ nodePort: port(30080), externalIPs: [ip('203.0.113.1')] });
  const other = servicePort({ name: 'shop/other', clusterIP: ip('172.20.1.2') });
  const desired = desiredFor([
    [cart, [endpoint()]],
    [other, [endpoint({ address: ip('10.180.1.2') })]],
  ]);
  const server = 'TCP 172.20.1.1:80' as VirtualServerKey;
  const gone = 'TCP 172.20.9.9:80' as VirtualServerKey;
  const old = '10.180.9.9:8080' as RealServerKey;
  const entry = (set: string, text: string, change?: 'deletion'): Refused => ({
    kind: 'set-entry',
    set,
    entry: text as SetEntry,
    ...(change ? { change } : {}),
  });
  const cases: readonly (readonly [what: string, thing: Refused, services: readonly string[]])[] = [
    ['the change of a virtual server', { kind: 'virtual-server', server, change: 'edit' }, ['shop/cart']],
    ['the end of one that nobody has any more', { kind: 'virtual-server', server: gone, change: 'deletion' }, []],
    ['a new real server', { kind: 'real-server', server, real: '10.180.1.1:8080' as RealServerKey }, ['shop/cart']],
    ['a new one that is not wanted any more', { kind: 'real-server', server, real: old }, []],
    ['the end of an old one', { kind: 'real-server', server, real: old, change: 'deletion' }, ['shop/cart']],
    ['the weight of an old one', { kind: 'real-server', server, real: old, change: 'edit' }, ['shop/cart']],
    ['the same where its Service has gone', { kind: 'real-server', server: gone, real: old, change: 'edit' }, []],
    ['a new entry', entry('KUBE-CLUSTER-IP', '172.20.1.1,tcp:80'), ['shop/cart']],
    ['a new entry of a node port', entry('KUBE-NODE-PORT-TCP', '30080'), ['shop/cart']],
    ['a new entry that guards', entry('KUBE-IPVS-IPS', '172.20.1.2'), ['shop/other']],
    ['a new entry that nobody wants', entry('KUBE-EXTERNAL-IP-LOCAL', '203.0.113.1,tcp:80'), []],
    [
      'the end of an entry of a frontend',
      entry('KUBE-EXTERNAL-NO-LOCAL', '203.0.113.1,tcp:80', 'deletion'),
      ['shop/cart'],
    ],
    [
      'the end of a range',
      entry('KUBE-LOAD-BALANCER-SOURCE-CIDR', '172.20.1.2,tcp:80,10.0.0.0/8', 'deletion'),
      ['shop/other'],
    ],
    ['the end of an entry of a node port', entry('KUBE-NODE-PORT-LOCAL-TCP', '30080', 'deletion'), ['shop/cart']],
    ['the same of another protocol', entry('KUBE-NODE-PORT-LOCAL-UDP', '30080', 'deletion'), []],
    ['the end of an entry of nobody', entry('KUBE-CLUSTER-IP', '172.20.9.9,tcp:80', 'deletion'), []],
    ['the end of an address', { kind: 'address', address: ip('172.20.9.9'), change: 'deletion' }, []],
    ['a new address', { kind: 'address', address: ip('172.20.1.2') }, ['shop/other']],
    ['a new set', { kind: 'set', set: 'KUBE-EXTERNAL-IP' }, ['shop/cart']],
    ['a new set that guards', { kind: 'set', set: 'KUBE-IPVS-IPS' }, ['shop/cart', 'shop/other']],
    ['a new set that nobody fills', { kind: 'set', set: 'KUBE-LOAD-BALANCER' }, []],
    ['the exchange of a set', { kind: 'set', set: 'KUBE-EXTERNAL-IP', change: 'edit' }, []],
    ['the end of a set', { kind: 'set', set: 'KUBE-NODE-PORT-IP', change: 'deletion' }, []],
  ];
  for (const [what, thing, services] of cases) {
    it(`lays ${what} to ${services.join() || 'nobody'}`, () =>
      expect(wantersIn(desired)(thing)).to.deep.equal(services));
  }

  it('goes through all frontends once, of however many addresses it is asked', () => {
    let times = 0;
    class Owners extends Map<VirtualServerKey, OwnedFrontend> {
      override values() {
        times += 1;
        return super.values();
      }
    }
    const wantedBy = wantersIn({ ...desired, owners: new Owners(desired.owners) });
    const counts = Array.from({ length: 100 }, (_, last) => {
      return wantedBy({ kind: 'address', address: ip(`172.20.1.${last}`) }).length;
    });
    expect(counts.slice(0, 4)).to.deep.equal([0, 1, 1, 0]);
    expect(times).to.equal(1);
  });
});
