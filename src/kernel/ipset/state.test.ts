import { expect } from 'chai';
import { cidr, ip, port } from '../../../test/builders/net.ts';
import { addressEntry, addressPortEntry, addressPortSourceEntry, portEntry } from './state.ts';

describe('kernel/ipset/state', () => {
  const vip = ip('10.9.9.9');
  const entries = [
    [addressEntry(ip('10.96.0.10')), '10.96.0.10'],
    [addressEntry(ip('fd00::10')), 'fd00::10'],
    [portEntry(port(30080)), '30080'],
    [addressPortEntry(ip('10.96.0.10'), 'TCP', port(53)), '10.96.0.10,tcp:53'],
    [addressPortEntry(ip('fd00::10'), 'UDP', port(53)), 'fd00::10,udp:53'],
    [addressPortSourceEntry(ip('10.180.0.1'), 'SCTP', port(8080), ip('10.180.0.1')), '10.180.0.1,sctp:8080,10.180.0.1'],
    [addressPortSourceEntry(vip, 'TCP', port(80), cidr('203.0.113.0/24')), '10.9.9.9,tcp:80,203.0.113.0/24'],
    [addressPortSourceEntry(vip, 'TCP', port(80), cidr('203.0.113.7/32')), '10.9.9.9,tcp:80,203.0.113.7'],
    [addressPortSourceEntry(ip('fd00::9'), 'TCP', port(80), cidr('2001:db8::/32')), 'fd00::9,tcp:80,2001:db8::/32'],
    [addressPortSourceEntry(ip('fd00::9'), 'TCP', port(80), cidr('2001:db8::7/128')), 'fd00::9,tcp:80,2001:db8::7'],
  ];
  for (const [entry, text] of entries) {
    it(`writes an entry as ipset saves it, ${text}`, () => expect(entry).to.equal(text));
  }
});
