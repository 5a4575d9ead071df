import { BlockList, isIP } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyAddress, anyPort, ip } from '../../test/builders/net.ts';
import { FAMILIES, type Family } from './family.ts';
import {
  familyOf,
  formatAddress,
  formatAddressPort,
  isLinkLocal,
  isLoopback,
  isMulticastOrBroadcast,
  isUnspecified,
  parseAddressBytes,
  parseIpAddress,
} from './ip-address.ts';

describe('net/ip-address', () => {
  const read: readonly (readonly [string, string])[] = [
    ['10.0.0.1', '10.0.0.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['010.000.08.09', '10.0.8.9'],
    ['192.168.001.0000255', '192.168.1.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['FD00::A', 'fd00::a'],
    ['fd00:0000:0000:0000:0000:0000:0000:0001', 'fd00::1'],
    ['fd00:0:0:1:0:0:0:1', 'fd00:0:0:1::1'],
    ['fd00:0:0:1:1:0:0:1', 'fd00::1:1:0:0:1'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
    ['64:ff9b::10.0.0.1', '64:ff9b::a00:1'],
    ['::10.0.0.1', '::a00:1'],
    ['1:2:3:4:5:6:10.0.0.1', '1:2:3:4:5:6:a00:1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:0a00:0001', '10.0.0.1'],
    ['0:0:0:0:0:ffff:010.0.0.01', '10.0.0.1'],
    ['::ffff:0:10.0.0.1', '::ffff:0:a00:1'],
  ];
  for (const [text, canonical] of read) {
    it(`reads ${text} as ${canonical}`, () => expect(parseIpAddress(text)).to.equal(canonical));
  }

  const refused = [
    '',
    'localhost',
    '10.0.0',
    '10.0.0.1.2',
    '10.0.0.256',
    '10.0.0.300',
    '10.0.0.-1',
    '10.0.0.0x1',
    '10.0.0.1e1',
    '10.0..1',
    '.10.0.0.1',
    '10.0.0.1.',
    ' 10.0.0.1',
    '10.0.0.1 ',
    '10.0.0.1/32',
    '10.0.0.1:80',
    '٣.0.0.1',
    ':',
    ':::',
    '1::2::3',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    'fd00::12345',
    'fd00::g',
    'fd00::1%eth0',
    'fe80::1%2',
    '[fd00::1]',
    'fd00::1/64',
    'fd00:: 1',
    '::10.0.0.256',
    '::10.0.0',
    '10.0.0.1::',
    '::10.0.0.1:1',
    '1:2:3:4:5:6:7:10.0.0.1',
  ];
  for (const text of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parseIpAddress(text)).to.equal(undefined));
  }

  for (const family of FAMILIES) {
    it(`reads back every ${family} address that it writes`, () =>
      fc.assert(
        fc.property(anyAddress(family), (address) => {
          expect(parseIpAddress(address)).to.equal(address);
          expect(formatAddress(parseAddressBytes(address) ?? [])).to.equal(address);
          expect(familyOf(address)).to.equal(family);
        }),
      ));

    it(`writes ${family} addresses that mean what was read`, () =>
      fc.assert(
        fc.property(anyAddress(family), (address) => {
          expect(isIP(address)).to.equal(family === 'IPv4' ? 4 : 6);
          expect(meanTheSame(address, verbose(address, family), family)).to.equal(true);
          expect(parseIpAddress(verbose(address, family).toUpperCase())).to.equal(address);
        }),
      ));
  }

  it('compresses the longest run of zero groups, of equal ones the first, and never a single group', () =>
    fc.assert(
      fc.property(anyAddress('IPv6'), (address) => {
        const groups = verbose(address, 'IPv6')
          .split(':')
          .map((group) => Number.parseInt(group, 16).toString(16));
        const forms = Array.from({ length: 8 }, (_, start) => start).flatMap((start) =>
          Array.from({ length: 8 - start }, (_, more) => compressed(groups, start, start + more + 1)),
        );
        const allowed = forms.filter((form) => form !== undefined);
        const longest = Math.max(0, ...allowed.map(({ saved }) => saved));
        const best = allowed.find(({ saved }) => saved === longest)?.text ?? groups.join(':');
        expect(address).to.equal(best);
      }),
    ));

  it('agrees with the runtime on what an address is, where both are strict', () => {
    const pieces = fc.constantFrom(
      ':',
      '::',
      '.',
      '0',
      '1',
      '9',
      '10',
      '255',
      '256',
      'f',
      'ABCD',
      '12345',
      'g',
      ' ',
      '-',
    );
    const mostlyValid = fc.oneof(anyAddress('IPv4'), anyAddress('IPv6'));
    const texts = fc.oneof(
      fc.array(pieces, { maxLength: 17 }).map((parts) => parts.join('')),
      fc.array(fc.constantFrom('0', '1', 'ffff', '10.0.0.1', ''), { maxLength: 10 }).map((parts) => parts.join(':')),
      fc
        .tuple(mostlyValid, fc.nat(20), pieces)
        .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at + 1)),
    );
    const tolerant = /(^|[.:])0\d+(\.|$)/;
    fc.assert(
      fc.property(
        texts.filter((text) => !tolerant.test(text)),
        (text) => {
          expect(parseIpAddress(text) !== undefined).to.equal(isIP(text) !== 0);
        },
      ),
      { numRuns: 1000 },
    );
  });

  const kinds: readonly (readonly [
    (address: ReturnType<typeof ip>) => boolean,
    string,
    readonly string[],
    readonly string[],
  ])[] = [
    [
      isLoopback,
      'loopback',
      ['127.0.0.1', '127.255.255.255', '::1'],
      ['128.0.0.1', '126.255.255.255', '::', '::2', 'fd00::1'],
    ],
    [
      isLinkLocal,
      'link-local',
      ['169.254.0.0', '169.254.20.10', 'fe80::1', 'febf::1'],
      ['169.253.0.1', '169.255.0.1', 'fec0::1', 'fe7f::1', 'fe8::1'],
    ],
    [isUnspecified, 'unspecified', ['0.0.0.0', '0.1.2.3', '::'], ['10.0.0.1', '::1']],
    [
      isMulticastOrBroadcast,
      'multicast or broadcast',
      ['224.0.0.0', '239.255.255.255', '255.255.255.255', 'ff00::', 'ff02::1'],
      ['223.255.255.255', '240.0.0.1', '255.255.255.254', 'fe00::1', 'ff::1', '2240::1'],
    ],
  ];
  for (const [is, kind, yes, no] of kinds) {
    it(`tells ${kind} addresses from others`, () => {
      expect(yes.filter((text) => !is(ip(text)))).to.deep.equal([]);
      expect(no.filter((text) => is(ip(text)))).to.deep.equal([]);
    });
  }

  it('puts an IPv6 address in brackets before its port, an IPv4 address not', () =>
    fc.assert(
      fc.property(anyAddress('IPv4'), anyAddress('IPv6'), anyPort, (ipv4, ipv6, port) => {
        expect(formatAddressPort(ipv4, port)).to.equal(`${ipv4}:${port}`);
        expect(formatAddressPort(ipv6, port)).to.equal(`[${ipv6}]:${port}`);
      }),
    ));
});

/** IPv4 unchanged; IPv6 as eight groups of four digits. */
function verbose(address: string, family: Family): string {
  if (family === 'IPv4') return address;
  const [head = '', tail] = address.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill('0');
  return [...(before ?? []), ...zeros, ...(after ?? [])].map((group) => group.padStart(4, '0')).join(':');
}

function meanTheSame(one: string, other: string, family: Family): boolean {
  const list = new BlockList();
  const kind = family === 'IPv4' ? 'ipv4' : 'ipv6';
  list.addAddress(one, kind);
  return list.check(other, kind);
}

/** The groups with those from `start` up to `end` left out, if they are two or more and all zero. */
function compressed(
  groups: readonly string[],
  start: number,
  end: number,
): { text: string; saved: number } | undefined {
  if (end - start < 2 || groups.slice(start, end).some((group) => group !== '0')) return undefined;
  return { text: `${groups.slice(0, start).join(':')}::${groups.slice(end).join(':')}`, saved: end - start };
}
