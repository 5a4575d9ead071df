import { expect } from 'chai';
import { dummyOf, parseAddressShow, parseLinkKind } from './parse.ts';

describe('kernel/dummy/parse', () => {
  it('reads addresses by interface, both families, host bits kept', () => {
    const text = JSON.stringify([
      {
        ifindex: 1,
        ifname: 'lo',
        flags: ['LOOPBACK', 'UP'],
        addr_info: [
          { family: 'inet', local: '127.0.0.1', prefixlen: 8, scope: 'host', label: 'lo' },
          { family: 'inet6', local: '::1', prefixlen: 128, scope: 'host' },
        ],
      },
      { ifindex: 2, ifname: 'eth0', addr_info: [{ family: 'inet', local: '192.168.0.10', prefixlen: 24 }] },
      {
        ifindex: 3,
        ifname: 'wg0',
        addr_info: [{ family: 'inet', local: '10.9.0.1', address: '10.9.0.2', prefixlen: 32 }],
      },
      { ifindex: 4, ifname: 'kube-ipvs0', addr_info: [] },
      { ifindex: 5, ifname: 'veth1' },
    ]);
    expect(parseAddressShow(text)).to.deep.equal(
      new Map([
        [
          'lo',
          [
            { address: '127.0.0.1', prefixLength: 8 },
            { address: '::1', prefixLength: 128 },
          ],
        ],
        ['eth0', [{ address: '192.168.0.10', prefixLength: 24 }]],
        ['wg0', [{ address: '10.9.0.1', prefixLength: 32 }]],
        ['kube-ipvs0', []],
        ['veth1', []],
      ]),
    );
  });

  it('passes over what has no name or no address, as ip prints it in filtered lists', () => {
    const text = '[{},{"ifname":"eth0","addr_info":[{},{"family":"inet","local":"192.168.0.10","prefixlen":24}]},null]';
    expect(parseAddressShow(text)).to.deep.equal(new Map([['eth0', [{ address: '192.168.0.10', prefixLength: 24 }]]]));
  });

  it('reads an empty list as no interface', () => expect(parseAddressShow('[]')).to.deep.equal(new Map()));

  for (const text of ['', '{}', 'null', '1: lo: <LOOPBACK>', '[{"ifname":"lo"}']) {
    it(`does not understand ${JSON.stringify(text)}`, () => expect(parseAddressShow(text)).to.equal(undefined));
  }

  it('reads of which kind an interface is', () => {
    const text = JSON.stringify([
      { ifname: 'eth0' },
      { ifname: 'kube-ipvs0', linkinfo: { info_kind: 'dummy' } },
      { ifname: 'br0', linkinfo: { info_kind: 'bridge' } },
      {},
    ]);
    const kinds = ['kube-ipvs0', 'br0', 'eth0', 'eth1'].map((name) => parseLinkKind(text, name));
    expect(kinds).to.deep.equal(['dummy', 'bridge', 'none', 'none']);
    expect(parseLinkKind('1: lo', 'lo')).to.equal(undefined);
  });

  const dummies: readonly (readonly [string, unknown, boolean, readonly string[]])[] = [
    [
      'is not there on a fresh node',
      { ifname: 'eth0', addr_info: [{ local: '192.168.0.10', prefixlen: 24 }] },
      false,
      [],
    ],
    ['is there without addresses', { ifname: 'kube-ipvs0', addr_info: [] }, true, []],
    [
      'holds addresses of both families, but no loopback and no IPv6 link-local ones',
      {
        ifname: 'kube-ipvs0',
        addr_info: ['172.20.1.1', '169.254.20.10', '127.0.0.9', 'fd00::1', '::1', 'fe80::1'].map((local) => ({
          local,
          prefixlen: 32,
        })),
      },
      true,
      ['172.20.1.1', '169.254.20.10', 'fd00::1'],
    ],
  ];
  for (const [name, link, exists, addresses] of dummies) {
    it(`knows that the dummy interface ${name}`, () => {
      const dummy = dummyOf(parseAddressShow(JSON.stringify([link])) ?? new Map());
      expect({ ...dummy, addresses: [...dummy.addresses] }).to.deep.equal({ exists, addresses });
    });
  }

  for (const [name, list] of [
    ['no list of addresses', 'none'],
    ['a list with nothing in it', null],
  ] as const) {
    it(`does not throw at ${name}`, () => {
      const text = JSON.stringify([{ ifname: 'eth0', addr_info: list === 'none' ? 'none' : [list] }]);
      const addresses = parseAddressShow(text)?.get('eth0');
      expect(addresses).to.deep.equal(list === 'none' ? undefined : []);
    });
  }
});
