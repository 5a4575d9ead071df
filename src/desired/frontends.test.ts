import { expect } from 'chai';
import { ip, port } from '../../test/builders/net.ts';
import { nodeView, servicePort, settings } from '../../test/builders/objects.ts';
import type { ServicePort } from '../model/service-port.ts';
import { PROTOCOLS } from '../net/protocol.ts';
import { frontends } from './frontends.ts';
import { nodeInputs } from './node-inputs.ts';

describe('desired/frontends', () => {
  const interfaces = { eth0: ['192.168.0.10/24', '203.0.113.5/32'], eth1: ['192.168.1.10/24'] };
  const node = nodeInputs(nodeView({ interfaces }), 'IPv4', settings({ nodePortAddresses: [] }));
  const vip = ip('203.0.113.9');

  /** Each frontend as `kind address:port`, then `bind` and `local` where they hold, then its entries. */
  function described(given: ServicePort, inputs = node): (readonly string[])[] {
    return frontends(given, inputs).map(({ kind, address, port: number, bind, policyLocal, entries }) => [
      [kind, `${address}:${number}`, ...(bind ? ['bind'] : []), ...(policyLocal ? ['local'] : [])].join(' '),
      ...entries.map(([set, entry]) => `${set} ${entry}`),
    ]);
  }

  it('has the cluster address always, and binds it', () => {
    expect(described(servicePort())).to.deep.equal([['cluster 172.20.1.1:80 bind', 'CLUSTER-IP 172.20.1.1,tcp:80']]);
    expect(described(servicePort({ internalPolicyLocal: true }))).to.deep.equal([
      ['cluster 172.20.1.1:80 bind local', 'CLUSTER-IP 172.20.1.1,tcp:80'],
    ]);
  });

  const tables: readonly (readonly [string, Partial<ServicePort>, readonly string[]])[] = [
    ['an external address', { externalIPs: [vip] }, ['external 203.0.113.9:80 bind', 'EXTERNAL-IP 203.0.113.9,tcp:80']],
    [
      'an external address under policy Local',
      { externalIPs: [vip], externalPolicyLocal: true },
      ['external 203.0.113.9:80 bind local', 'EXTERNAL-IP-LOCAL 203.0.113.9,tcp:80'],
    ],
    [
      'a load-balancer address',
      { loadBalancerVIPs: [vip] },
      ['load-balancer 203.0.113.9:80 bind', 'LOAD-BALANCER 203.0.113.9,tcp:80'],
    ],
    [
      'a load-balancer address under policy Local',
      { loadBalancerVIPs: [vip], externalPolicyLocal: true },
      [
        'load-balancer 203.0.113.9:80 bind local',
        'LOAD-BALANCER 203.0.113.9,tcp:80',
        'LOAD-BALANCER-LOCAL 203.0.113.9,tcp:80',
      ],
    ],
    [
      'an external address that the node has itself, without binding it',
      { externalIPs: [ip('203.0.113.5')] },
      ['external 203.0.113.5:80', 'EXTERNAL-IP 203.0.113.5,tcp:80'],
    ],
    [
      'a load-balancer address that the node has itself, without binding it',
      { loadBalancerVIPs: [ip('203.0.113.5')] },
      ['load-balancer 203.0.113.5:80', 'LOAD-BALANCER 203.0.113.5,tcp:80'],
    ],
  ];
  for (const [name, given, wanted] of tables) {
    it(`has ${name}`, () => expect(described(servicePort(given)).slice(1)).to.deep.equal([wanted]));
  }

  for (const protocol of PROTOCOLS) {
    for (const externalPolicyLocal of [false, true]) {
      it(`has a ${protocol} node port on every address, never bound, under policy ${externalPolicyLocal ? 'Local' : 'Cluster'}`, () => {
        const found = described(servicePort({ protocol, nodePort: port(30080), externalPolicyLocal }));
        const wanted = ['192.168.0.10', '203.0.113.5', '192.168.1.10'].map((address) => {
          const entry = protocol === 'SCTP' ? `SCTP-HASH ${address},sctp:30080` : `${protocol} 30080`;
          const local = externalPolicyLocal ? [`NODE-PORT-LOCAL-${entry}`] : [];
          return [`node-port ${address}:30080${externalPolicyLocal ? ' local' : ''}`, `NODE-PORT-${entry}`, ...local];
        });
        expect(found.slice(1)).to.deep.equal(wanted);
      });
    }
  }

  it('has nothing for a node port where the node has no address', () => {
    const nowhere = nodeInputs(nodeView({ interfaces: {} }), 'IPv4', settings());
    expect(described(servicePort({ nodePort: port(30080) }), nowhere)).to.have.lengthOf(1);
  });

  it('uses the port of the Service everywhere but on node ports', () => {
    const given = servicePort({ port: port(443), externalIPs: [vip], loadBalancerVIPs: [vip], nodePort: port(30443) });
    const ports = frontends(given, node).map(({ kind, port: number }) => `${kind} ${number}`);
    expect([...new Set(ports)]).to.deep.equal(['cluster 443', 'external 443', 'load-balancer 443', 'node-port 30443']);
  });
});
