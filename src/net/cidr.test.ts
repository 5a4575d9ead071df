import { BlockList } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyAddress, anyCidr, cidr, ip } from '../../test/builders/net.ts';
import {
  cidrContains,
  cidrFamily,
  cidrsOverlap,
  hostCidr,
  parseCidr,
  parseInterfaceAddress,
  prefixLength,
} from './cidr.ts';
import { FAMILIES } from './family.ts';

describe('net/cidr', () => {
  const read: readonly (readonly [string, string])[] = [
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.255.255.255/9', '10.128.0.0/9'],
    ['10.0.0.1/32', '10.0.0.1/32'],
    ['10.0.0.1/31', '10.0.0.0/31'],
    ['255.255.255.255/0', '0.0.0.0/0'],
    ['010.001.0.0/16', '10.1.0.0/16'],
    ['FD00::/8', 'fd00::/8'],
    ['fd00::1/64', 'fd00::/64'],
    ['fd00:0:0:ffff::/49', 'fd00:0:0:8000::/49'],
    ['fd00::1/128', 'fd00::1/128'],
    ['ffff::/0', '::/0'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
    ['::ffff:10.1.2.3/128', '10.1.2.3/32'],
  ];
  for (const [text, canonical] of read) {
    it(`reads ${text} as ${canonical}`, () => expect(parseCidr(text)).to.equal(canonical));
  }

  const refused = [
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/8 ',
    ' 10.0.0.0/8',
    '10.0.0.0 /8',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0/1e1',
    '10.0.0.300/8',
    'fd00::/129',
    'fd00::/1000',
    'fd00::%eth0/64',
    '[fd00::]/64',
    '::ffff:10.1.2.3/24',
    'any/0',
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(parseCidr(text)).to.equal(undefined);
      expect(parseInterfaceAddress(text)).to.equal(undefined);
    });
  }

  it('keeps the host bits of an interface address', () => {
    expect(parseInterfaceAddress('192.168.000.10/24')).to.deep.equal({ address: '192.168.0.10', prefixLength: 24 });
    expect(parseInterfaceAddress('FD00::10/64')).to.deep.equal({ address: 'fd00::10', prefixLength: 64 });
  });

  for (const family of FAMILIES) {
    const kind = family === 'IPv4' ? 'ipv4' : 'ipv6';

    it(`reads back every ${family} network that it writes, with its family and length`, () =>
      fc.assert(
        fc.property(anyCidr(family), (network) => {
          expect(parseCidr(network)).to.equal(network);
          expect(cidrFamily(network)).to.equal(family);
          expect(`${network.split('/')[0]}/${prefixLength(network)}`).to.equal(network);
        }),
      ));

    it(`agrees with the runtime on which ${family} addresses a network holds`, () => {
      const nearby = anyAddress(family).chain((base) =>
        fc.record({
          network: fc.nat(family === 'IPv4' ? 32 : 128).map((bits) => cidr(`${base}/${bits}`)),
          address: fc.oneof(fc.constant(base), anyAddress(family), neighbourOf(base)),
        }),
      );
      fc.assert(
        fc.property(nearby, ({ network, address }) => {
          const list = new BlockList();
          list.addSubnet(network.slice(0, network.indexOf('/')), prefixLength(network), kind);
          expect(cidrContains(network, address)).to.equal(list.check(address, kind));
        }),
        { numRuns: 500 },
      );
    });

    it(`makes a network of one ${family} host that holds that host`, () =>
      fc.assert(
        fc.property(anyAddress(family), (address) => {
          const network = hostCidr(address);
          expect(network).to.equal(`${address}/${family === 'IPv4' ? 32 : 128}`);
          expect(parseCidr(network)).to.equal(network);
          expect(cidrContains(network, address)).to.equal(true);
        }),
      ));
  }

  const pairs: readonly (readonly [one: string, other: string, boolean])[] = [
    ['10.0.0.0/8', '10.180.0.0/16', true],
    ['10.180.0.0/16', '10.180.0.0/16', true],
    ['10.180.0.0/17', '10.180.128.0/17', false],
    ['0.0.0.0/0', '::/0', false],
    ['fd00::/8', 'fd00:180::/32', true],
  ];
  for (const [one, other, expected] of pairs) {
    it(`tells whether ${one} and ${other} overlap`, () => {
      expect([cidrsOverlap(cidr(one), cidr(other)), cidrsOverlap(cidr(other), cidr(one))]).to.deep.equal([
        expected,
        expected,
      ]);
    });
  }

  it('holds no address of the other family, however wide it is', () => {
    expect(cidrContains(cidr('0.0.0.0/0'), ip('::1'))).to.equal(false);
    expect(cidrContains(cidr('::/0'), ip('10.0.0.1'))).to.equal(false);
  });
});

/** An address that differs in its last group or octet only. */
function neighbourOf(address: string) {
  const separator = address.includes(':') ? ':' : '.';
  const stem = address.slice(0, address.lastIndexOf(separator) + 1);
  return fc.nat(255).map((last) => ip(`${stem}${last}`));
}
