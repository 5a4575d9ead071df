import { expect } from 'chai';
import fc from 'fast-check';
import { anyIpvs, ipvs, real, server } from '../../../test/builders/kernel-states.ts';
import { ip, port } from '../../../test/builders/net.ts';
import { MemoryIpvs } from '../../../test/kernel/memory-ipvs.ts';
import { FAMILIES } from '../../net/family.ts';
import { type ListForm, parseIpvsList } from './parse-list.ts';
import { renderIpvsState } from './render.ts';
import type { IpvsState } from './state.ts';

const HEADER = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
`;

/** What the memory kernel takes for a second. */
const TICKS_PER_SECOND = 250;

describe('kernel/ipvs/parse-list', () => {
  it('reads the list of one virtual server, which has no line with the version', () => {
    const text = `Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  10.0.0.1:80 rr
  -> 10.0.0.2:80                  Masq    1      0          2         
`;
    const [read] = parseIpvsList(text, 'list')?.values() ?? [];
    expect(read).to.include({ address: '10.0.0.1', port: 80 });
    expect((read?.realServers ?? []).map(({ connections }) => connections)).to.deep.equal([2]);
  });

  for (const family of FAMILIES) {
    it(`reads any ${family} state that the kernel lists`, () =>
      fc.assert(
        fc.property(anyIpvs(family), (state) => {
          const kernel = new MemoryIpvs();
          kernel.restore(renderIpvsState(state));
          const read = parseIpvsList(kernel.list() ?? '', 'list');
          expect(read && renderIpvsState(read)).to.equal(renderIpvsState(state));
        }),
      ));

    it(`reads any ${family} state from the file, but for flags and with persistence in ticks`, () =>
      fc.assert(
        fc.property(anyIpvs(family), (state) => {
          const kernel = new MemoryIpvs();
          kernel.restore(renderIpvsState(state));
          const read = parseIpvsList(kernel.proc(), 'proc');
          const inTicks: IpvsState = new Map(
            [...state].map(([key, each]) => {
              const persistenceSeconds = each.persistenceSeconds * TICKS_PER_SECOND;
              return [key, { ...each, schedulerFlags: undefined, persistenceSeconds }];
            }),
          );
          expect(read && renderIpvsState(read)).to.equal(renderIpvsState(inTicks));
          expect([...(read?.values() ?? [])].every(({ schedulerFlags }) => schedulerFlags === undefined)).to.equal(
            true,
          );
        }),
      ));
  }

  const reals = [
    real('10.180.0.1', { connections: 5 }),
    real('10.180.0.2', { weight: 0, connections: 2, forwarding: 'route' }),
    real('10.180.0.3', { connections: 0, forwarding: 'tunnel' }),
    real('192.168.0.10', { connections: 0, forwarding: 'local' }),
  ];
  const expected = (form: ListForm) => {
    const flags = (given: readonly string[]) => ({ schedulerFlags: form === 'list' ? given : undefined });
    const seconds = (given: number) => ({ persistenceSeconds: form === 'list' ? given : given * TICKS_PER_SECOND });
    return ipvs(
      server(reals, flags([])),
      server([real('fd00:180::1', { connections: 1 })], {
        address: ip('fd00:96::1'),
        port: port(443),
        ...flags([]),
        ...seconds(10800),
      }),
      server([], {
        protocol: 'UDP',
        address: ip('172.20.0.10'),
        port: port(53),
        scheduler: 'mh',
        ...flags(['mh-port']),
      }),
      server([], {
        protocol: 'SCTP',
        port: port(9999),
        scheduler: 'sh',
        ...flags(['sh-fallback', 'sh-port']),
        ...seconds(30),
      }),
    );
  };

  it('reads what ipvsadm lists, passing over services that are never ours with their real servers', () => {
    const text = `${HEADER}TCP  172.20.1.1:80 rr
  -> 10.180.0.1:8080              Masq    1      3          2         
  -> 10.180.0.2:8080              Route   0      0          2         
  -> 10.180.0.3:8080              Tunnel  1      0          0         
  -> 192.168.0.10:8080            Local   1      0          0         
TCP  [fd00:96::1]:443 rr persistent 10800
  -> [fd00:180::1]:8080           Masq    1      1          0         
UDP  172.20.0.10:53 mh (mh-port)
FWM  7 wlc persistent 300
  -> 10.180.0.9:0                 Route   1      0          0         
FWM  8 IPv6 rr
  -> [fd00:180::9]:0              Route   1      0          0         
TCP  172.20.9.9:0 rr persistent 360 mask 255.255.255.0
  -> 10.180.0.9:0                 Masq    1      0          0         
SCTP 172.20.1.1:9999 sh (sh-fallback,sh-port) persistent 30 pe sip ops
`;
    expect(parseIpvsList(text, 'list')).to.deep.equal(expected('list'));
  });

  it('reads the file of the kernel, passing over the same', () => {
    const text = `${HEADER}TCP  AC140101:0050 rr 
  -> 0AB40001:1F90      Masq    1      3          2         
  -> 0AB40002:1F90      Route   0      0          2         
  -> 0AB40003:1F90      Tunnel  1      0          0         
  -> C0A8000A:1F90      Local   1      0          0         
TCP  [fd00:0096:0000:0000:0000:0000:0000:0001]:01BB rr persistent 2700000 00000080
  -> [fd00:0180:0000:0000:0000:0000:0000:0001]:1F90      Masq    1      1          0         
UDP  AC14000A:0035 mh 
FWM  00000007 wlc persistent 75000 FFFFFFFF
  -> 0AB40009:0000      Route   1      0          0         
TCP  AC140909:0000 rr persistent 90000 FFFFFF00
  -> 0AB40009:0000      Masq    1      0          0         
SCTP AC140101:270F sh ops persistent 7500 FFFFFFFF
`;
    expect(parseIpvsList(text, 'proc')).to.deep.equal(expected('proc'));
  });

  it('reads an empty table, and one without a line feed at its end', () => {
    for (const form of ['list', 'proc'] as const) {
      expect(parseIpvsList(HEADER, form)).to.deep.equal(new Map());
      expect(parseIpvsList(HEADER.trimEnd(), form)).to.deep.equal(new Map());
    }
  });

  for (const text of ['', '\n', 'Segmentation fault\n', 'IP Virtual Server version 1.2.1 (size=4096)\n']) {
    it(`does not understand ${JSON.stringify(text)}, which has not even the titles`, () =>
      expect(parseIpvsList(text, 'list')).to.equal(undefined));
  }

  const strange: readonly (readonly [ListForm, string])[] = [
    ['list', 'ICMP 172.20.1.1:80 rr'],
    ['list', 'TCP  172.20.1.1:http rr'],
    ['list', 'TCP  172.20.1.300:80 rr'],
    ['list', 'TCP  AC140101:0050 rr'],
    ['list', 'TCP  172.20.1.1:80'],
    ['list', 'TCP  172.20.1.1:80 rr persistent long'],
    ['list', 'TCP  172.20.1.1:80 rr\n  -> 10.180.0.1 Masq 1 0 0'],
    ['list', 'TCP  172.20.1.1:80 rr\n  -> 10.180.0.1:8080 Magic 1 0 0'],
    ['list', 'TCP  172.20.1.1:80 rr\n  -> 10.180.0.1:8080 Masq 1 0'],
    ['list', 'TCP  172.20.1.1:80 rr\n  -> 10.180.0.1:8080 Masq one 0 0'],
    ['proc', 'TCP  172.20.1.1:80 rr'],
    ['proc', 'TCP  AC1401:0050 rr'],
    ['proc', 'TCP  AC140101:50 rr'],
    ['proc', 'TCP  [fd00::1::2]:0050 rr'],
    ['proc', 'TCP  AC140101:0050 rr\n  -> 10.180.0.1:8080 Masq 1 0 0'],
    ['proc', 'IP_47 AC140101:0050 rr'],
  ];
  for (const [form, lines] of strange) {
    it(`does not understand ${JSON.stringify(lines)} in form ${form}`, () =>
      expect(parseIpvsList(`${HEADER}${lines}\n`, form)).to.equal(undefined));
  }
});
