import { expect } from 'chai';
import { parseAddressEvent } from './address-event.ts';

describe('apply/address-event', () => {
  const lines: readonly (readonly [line: string, expected: ReturnType<typeof parseAddressEvent>])[] = [
    [
      '2: eth0    inet 192.168.0.200/24 scope global eth0:1\\       valid_lft forever preferred_lft forever',
      { kind: 'present', subject: 'eth0 192.168.0.200/24' },
    ],
    [
      'Deleted 2: eth0    inet 192.168.0.200/24 scope global eth0:1\\       valid_lft forever preferred_lft forever',
      { kind: 'gone', subject: 'eth0 192.168.0.200/24' },
    ],
    [
      '2: eth0    inet6 fd00::5/64 scope global tentative \\       valid_lft forever preferred_lft forever',
      { kind: 'present', subject: 'eth0 fd00::5/64' },
    ],
    [
      'Deleted 2: eth0    inet6 fd00::5/64 scope global dynamic \\       valid_lft 2995sec preferred_lft 2995sec',
      { kind: 'gone', subject: 'eth0 fd00::5/64' },
    ],
    [
      '2: eth0    inet 10.0.0.1 peer 10.0.0.2/32 scope global eth0\\       valid_lft forever preferred_lft forever',
      { kind: 'present', subject: 'eth0 10.0.0.1 peer 10.0.0.2/32' },
    ],
    ['9: kube-ipvs0    inet 10.96.0.1/32 scope global kube-ipvs0\\       valid_lft forever', 'ignored'],
    ['Deleted 9: kube-ipvs0    inet6 fd00:96::1/128 scope global \\       valid_lft forever', 'ignored'],
    ['3: v2    inet6 fe80::f013:45ff:fe5d:fa62/64 scope link \\       valid_lft forever', 'ignored'],
    ['3: v2    inet6 febf::1/64 scope link \\       valid_lft forever', 'ignored'],
    ['3: v2    inet6 fec0::1/64 scope site \\       valid_lft forever', { kind: 'present', subject: 'v2 fec0::1/64' }],
    ['netlink receive error No buffer space available (105)', undefined],
    ['', undefined],
  ];
  for (const [line, expected] of lines) {
    it(`reads ${JSON.stringify(line)}`, () => expect(parseAddressEvent(line)).to.deep.equal(expected));
  }
});
