import { expect } from 'chai';
import { ip } from '../../test/builders/net.ts';
import { addressesOfNode, parseNodeAddresses } from './node-addresses.ts';

describe('cli/node-addresses', () => {
  const read: readonly (readonly [readonly string[], Readonly<Record<string, readonly string[]>>])[] = [
    [[], {}],
    [['eth0=192.168.0.10/24'], { eth0: ['192.168.0.10/24'] }],
    [
      ['eth0=192.168.0.10/24,fd00::10/64,eth1=10.0.0.1/8'],
      { eth0: ['192.168.0.10/24', 'fd00::10/64'], eth1: ['10.0.0.1/8'] },
    ],
    [['eth0=192.168.0.10/24', 'eth1=10.0.0.1/8'], { eth0: ['192.168.0.10/24'], eth1: ['10.0.0.1/8'] }],
    [['eth0=192.168.0.10/24', 'fd00::10/64'], { eth0: ['192.168.0.10/24', 'fd00::10/64'] }],
    [
      ['eth0=192.168.0.10/24,eth1=10.0.0.1/8,eth0=192.168.0.11/24'],
      { eth0: ['192.168.0.10/24', '192.168.0.11/24'], eth1: ['10.0.0.1/8'] },
    ],
    [['eth0 = 192.168.0.10/24, eth1=10.0.0.1/8'], { eth0: ['192.168.0.10/24'], eth1: ['10.0.0.1/8'] }],
  ];
  for (const [texts, wanted] of read) {
    it(`reads ${JSON.stringify(texts)}`, () => {
      const result = parseNodeAddresses(texts);
      const plain =
        result.ok &&
        [...result.value].map(([name, list]) => [
          name,
          list.map(({ address, prefixLength }) => `${address}/${prefixLength}`),
        ]);
      expect(plain).to.deep.equal(Object.entries(wanted));
    });
  }

  const refused: readonly (readonly [string, string])[] = [
    ['192.168.0.10/24', '192.168.0.10/24'],
    ['eth0=192.168.0.10', 'eth0=192.168.0.10'],
    ['eth0=192.168.0.300/24', 'eth0=192.168.0.300/24'],
    ['eth0=192.168.0.10/33', 'eth0=192.168.0.10/33'],
    ['eth0=192.168.0.10/24,', ''],
    ['eth0=', 'eth0='],
    ['=192.168.0.10/24', '=192.168.0.10/24'],
    ['eth0=192.168.0.10/24,=10.0.0.1/8', '=10.0.0.1/8'],
    ['eth0=192.168.0.10/24=eth1', 'eth0=192.168.0.10/24=eth1'],
    ['', ''],
  ];
  for (const [text, element] of refused) {
    it(`names the element that is wrong in ${JSON.stringify(text)}`, () => {
      expect(parseNodeAddresses([text])).to.deep.equal({
        ok: false,
        error: `--node-addresses: ${JSON.stringify(element)} is not INTERFACE=ADDRESS/LENGTH, e.g. eth0=192.168.0.10/24`,
      });
    });
  }

  it('takes the addresses of the Node object for want of better ones', () => {
    const node = { name: 'node-a', zone: undefined, podCIDRs: [], addresses: ['192.168.0.10', 'fd00::10'].map(ip) };
    expect(addressesOfNode(node)).to.deep.equal(
      new Map([
        [
          'node',
          [
            { address: '192.168.0.10', prefixLength: 32 },
            { address: 'fd00::10', prefixLength: 128 },
          ],
        ],
      ]),
    );
  });
});
