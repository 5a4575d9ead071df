import { expect } from 'chai';
import { ipvs, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip, port } from '../../test/builders/net.ts';
import type { SetId } from '../kernel/ipset/definitions.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import { servedEntries } from './served-entries.ts';

describe('plan/served-entries', () => {
  const node = ip('192.168.0.10');
  const isServed = servedEntries(
    ipvs(
      server([], { address: ip('198.51.100.1') }),
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
      expect(set && isServed(set, entry as SetEntry)).to.equal(expected);
    });
  }
});
