import { expect } from 'chai';
import fc from 'fast-check';
import { anyIpvs, ipvs, real, server } from '../../../test/builders/kernel-states.ts';
import { ip, port } from '../../../test/builders/net.ts';
import { FAMILIES } from '../../net/family.ts';
import { parseIpvsSave } from './parse-save.ts';
import { renderIpvsState } from './render.ts';
import { type RealServer, realServerKey } from './state.ts';

describe('kernel/ipvs/parse-save', () => {
  for (const family of FAMILIES) {
    it(`reads back any ${family} state that was written`, () =>
      fc.assert(
        fc.property(anyIpvs(family), (state) => {
          expect(parseIpvsSave(renderIpvsState(state))).to.deep.equal(sorted(state));
        }),
      ));
  }

  it('reads what ipvsadm prints, with options that we never set and services by firewall mark', () => {
    const text = `-A -t 10.96.0.12:80 -s rr -p 10800 -M 255.255.255.0
-a -t 10.96.0.12:80 -r 10.180.0.1:8080 -m -w 1 -x 100 -y 10
-a -t 10.96.0.12:80 -r 10.180.0.2:8080 -g -w 0
-a -t 10.96.0.12:80 -r 10.180.0.3:8080 -i -w 65535
-A -u [fd00::1]:53 -s mh -b mh-fallback,mh-port -o
-A -f 7 -s wlc -p 300
-a -f 7 -r 10.180.0.9:0 -g -w 1
`;
    const frontend = { address: ip('10.96.0.12') };
    expect(parseIpvsSave(text)).to.deep.equal(
      ipvs(
        server(
          [
            real('10.180.0.1'),
            real('10.180.0.2', { forwarding: 'route', weight: 0 }),
            real('10.180.0.3', { forwarding: 'tunnel', weight: 65535 }),
          ],
          { ...frontend, persistenceSeconds: 10800 },
        ),
        server([], {
          protocol: 'UDP',
          address: ip('fd00::1'),
          port: port(53),
          scheduler: 'mh',
          schedulerFlags: ['mh-fallback', 'mh-port'],
        }),
      ),
    );
  });

  it('reads an empty text as no virtual server', () => expect(parseIpvsSave('')).to.deep.equal(new Map()));

  const strange = [
    'Prot LocalAddress:Port Scheduler Flags',
    '-X -t 10.96.0.12:80 -s rr',
    '-A -q 10.96.0.12:80 -s rr',
    '-A -t 10.96.0.12 -s rr',
    '-A -t 10.96.0.12:http -s rr',
    '-A -t 10.96.0.12:70000 -s rr',
    '-A -t 10.96.0.300:80 -s rr',
    '-A -t 10.96.0.12:80 rr',
    '-a -t 10.96.0.13:80 -r 10.180.0.1:8080 -m -w 1',
    '-A -t 10.96.0.12:80 -s rr\n-a -t 10.96.0.12:80 -m -w 1',
    '-A -t 10.96.0.12:80 -s rr\n-a -t 10.96.0.12:80 -r 10.180.0.1:8080 -w 1',
    '-A -t 10.96.0.12:80 -s rr\n-a -t 10.96.0.12:80 -r 10.180.0.1:8080 -m',
    '-A -t 10.96.0.12:80 -s rr\n-a -t 10.96.0.12:80 -r 10.180.0.1:8080 -m -w many',
  ];
  for (const text of strange) {
    it(`does not understand ${JSON.stringify(text)}`, () => expect(parseIpvsSave(`${text}\n`)).to.equal(undefined));
  }
});

/** In the order of the lines; the order means nothing here, but chai looks at it. */
function sorted(state: ReturnType<typeof ipvs>): ReturnType<typeof ipvs> {
  const servers = [...state].sort(([a], [b]) => (a < b ? -1 : 1));
  const byKey = (a: RealServer, b: RealServer) => (realServerKey(a) < realServerKey(b) ? -1 : 1);
  return new Map(servers.map(([key, each]) => [key, { ...each, realServers: each.realServers.toSorted(byKey) }]));
}
