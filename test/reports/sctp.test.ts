import { expect } from 'chai';
import { OWN } from '../../src/config/config-fixture.ts';
import { PROTOCOLS } from '../../src/net/protocol.ts';
import { endpointJson, type ObjectJson, serviceObject, sliceObject } from '../kernel/cluster-objects.ts';
import { LINKS, NodeUnderTest } from '../kernel/node-under-test.ts';
import { sysctlsAfterStart } from './start-node.ts';

describe('test/reports/sctp', () => {
  it('R122: an SCTP node port is served at every address of the node', async () => {
    const node = new NodeUnderTest({ links: { ...LINKS, eth1: ['198.51.100.10/24'] } });
    await node.apply(nodePortsOf(['SCTP']));
    expect(node.set('KUBE-NODE-PORT-SCTP-HASH')).to.deep.equal(['192.168.0.10,sctp:30038', '198.51.100.10,sctp:30038']);
    expect(node.ipvs().filter((line) => line.startsWith('-A'))).to.deep.equal([
      '-A --sctp-service 172.20.1.1:3868 -s rr',
      '-A --sctp-service 192.168.0.10:30038 -s rr',
      '-A --sctp-service 198.51.100.10:30038 -s rr',
    ]);
  });

  it('R123: node ports of all three protocols stand in sets of a type that takes them', async () => {
    const node = new NodeUnderTest();
    await node.apply(nodePortsOf(PROTOCOLS));
    expect(node.kernel.ipsets.save()).to.match(/^create KUBE-NODE-PORT-TCP bitmap:port /m);
    expect(node.kernel.ipsets.save()).to.match(/^create KUBE-NODE-PORT-UDP bitmap:port /m);
    expect(node.kernel.ipsets.save()).to.match(/^create KUBE-NODE-PORT-SCTP-HASH hash:ip,port family inet /m);
    expect(node.set('KUBE-NODE-PORT-TCP')).to.deep.equal(['30038']);
    expect(node.set('KUBE-NODE-PORT-UDP')).to.deep.equal(['30038']);
    expect(node.set('KUBE-NODE-PORT-SCTP-HASH')).to.deep.equal(['192.168.0.10,sctp:30038']);
    const servers = node.ipvs().filter((line) => line.startsWith('-a'));
    expect(servers).to.deep.equal([
      '-a --sctp-service 172.20.1.1:3868 -r 10.180.0.5:3868 -m -w 1',
      '-a --sctp-service 192.168.0.10:30038 -r 10.180.0.5:3868 -m -w 1',
      '-a -t 172.20.1.1:3868 -r 10.180.0.5:3868 -m -w 1',
      '-a -t 192.168.0.10:30038 -r 10.180.0.5:3868 -m -w 1',
      '-a -u 172.20.1.1:3868 -r 10.180.0.5:3868 -m -w 1',
      '-a -u 192.168.0.10:30038 -r 10.180.0.5:3868 -m -w 1',
    ]);
  });

  const [tcp, sctp] = ['net/ipv4/vs/sloppy_tcp', 'net/ipv4/vs/sloppy_sctp'] as const;
  for (const [state, value] of [
    ['true', '1'],
    ['false', '0'],
  ] as const) {
    it(`R124: connections without a first packet are taken where it is asked for: ${state}`, async () => {
      const opposite = { [tcp]: `${1 - Number(value)}`, [sctp]: `${1 - Number(value)}` };
      const after = await sysctlsAfterStart(`${OWN}sloppyTCP: ${state}\nsloppySCTP: ${state}\n`, opposite);
      expect([after[tcp], after[sctp]]).to.deep.equal([value, value]);
    });
  }

  it('R124: connections without a first packet are left to what the node has by default', async () => {
    const after = await sysctlsAfterStart('', { [tcp]: '0', [sctp]: '0' });
    expect([after[tcp], after[sctp]]).to.deep.equal(['0', '0']);
  });
});

/** One Service with the same port and node port for each of the protocols, and an endpoint for all. */
function nodePortsOf(protocols: readonly string[]): readonly ObjectJson[] {
  const ports = protocols.map((protocol) => ({ name: protocol.toLowerCase(), protocol, port: 3868 }));
  return [
    serviceObject('shop/diameter', { type: 'NodePort', ports: ports.map((port) => ({ ...port, nodePort: 30038 })) }),
    sliceObject('shop/diameter-1', { service: 'diameter', ports, endpoints: [endpointJson('10.180.0.5', 'node-a')] }),
  ];
}
