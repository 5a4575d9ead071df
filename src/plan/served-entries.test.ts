import { expect } from 'chai';
import { ipvs, real, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip, port } from '../../test/builders/net.ts';
import type { SetId } from '../kernel/ipset/definitions.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import { servedEntries } from './served-entries.ts';

describe('plan/served-entries', () => {
  const node = ip('192.168.0.10');
  const { stands, serves } = servedEntries(
    ipvs(
      server([real()], { address: ip('198.51.100.1') }),
      server([real('10.180.0.2', { weight: 0 })], { address: ip('198.51.100.1'), port: port(81) }),
      server([], { address: node, port: port(30080) }),
      server([], { address: node, port: port(30090), protocol: 'SCTP' }),
    ),
  );
  const cases: readonly (readonly [SetId, string, boolean])[] = [
    ['LOAD-BALANCER-LOCAL', '198.51.100.1,tcp:80', true],
    ['LOAD-BALANCER-LOCAL', '198.51.100.1,udp:80', false],
    ['LOAD-BALANCER-LOCAL', '198.51.100.2,tcp:80', false],
    ['NODE-PORT-LOCAL-TCP', '30080', true],
    ['NODE-PORT-LOCAL-TCP', '30081', false],
    ['NODE-PORT-LOCAL-UDP', '30080', false],
    ['NODE-PORT-LOCAL-SCTP-HASH', '192.168.0.10,sctp:30090', true],
  ];
  for (const [id, entry, expected] of cases) {
    it(`${expected ? 'are' : 'are not'} ${entry} of ${id}`, () => {
      const set = setsWith('IPv4', { [id]: [entry] }).get(`KUBE-${id}`);
      expect(set && stands(set, entry as SetEntry)).to.equal(expected);
    });
  }

  it('serve where a real server takes new clients', () => {
    const frontends = ['198.51.100.1,tcp:80', '198.51.100.1,tcp:81', '192.168.0.10,tcp:30080'].map(
      (entry) => entry as SetEntry,
    );
    expect(frontends.map(serves)).to.deep.equal([true, false, false]);
  });
});
