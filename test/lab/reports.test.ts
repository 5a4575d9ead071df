import { expect } from 'chai';
import { FAMILIES } from '../../src/net/family.ts';
import { type At, frontend, outcomes } from './dial.ts';
import { readVirtualServers } from './kernel-state.ts';
import { useLabCluster } from './lab-cluster.ts';
import { clusterAddress, externalAddress, type Offer, SERVICE_PORT } from './offers.ts';
import { askWhoHas, ping } from './probes.ts';
import { describeAccessReports } from './reports-access.ts';
import { POD_PORT } from './standard-plan.ts';
import type { Connection, TrafficProtocol } from './traffic.ts';

const LOCAL_OUTSIDE = { externalTrafficPolicy: 'Local' };
const DNS: Offer = { name: 'dns', number: 61, type: 'ClusterIP', pods: ['a1', 'b1'] };
const ONE_DNS: Offer = { name: 'one-dns', number: 62, type: 'ClusterIP', pods: ['b1'] };
const STATISTICS: Offer = { name: 'statistics', number: 63, type: 'NodePort', pods: ['b1'] };
const STICKY: Offer = {
  name: 'sticky',
  number: 64,
  type: 'ClusterIP',
  pods: ['b1'],
  spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } },
};
const FAR: Offer = { name: 'far', number: 65, type: 'LoadBalancer', pods: ['b1'], spec: LOCAL_OUTSIDE };
const ALONE: Offer = { name: 'alone', number: 66, type: 'LoadBalancer', pods: ['a1'] };
const OUTER: Offer = { name: 'outer', number: 67, type: 'ClusterIP', pods: ['a1', 'b1'], hasExternalIPs: true };
const OFFERS = [DNS, ONE_DNS, STATISTICS, STICKY, FAR, ALONE, OUTER];

const PROTOCOLS = ['tcp', 'udp'] as const satisfies readonly TrafficProtocol[];

describe('test/lab/reports', () => {
  const cluster = useLabCluster((node) => (node === 'node-b' ? ['--ipvs-strict-arp'] : []));

  before('every Service', () => cluster().offer(...OFFERS));

  /** Servers that answered, or what happened instead; the same over both families, TCP and UDP. */
  async function askAll(from: string, offer: Offer, at: At, times = 4): Promise<readonly string[]> {
    const { lab, traffic } = cluster();
    const asked = FAMILIES.flatMap((family) =>
      PROTOCOLS.map((protocol) => traffic.ask({ from, protocol, ...frontend(lab, offer, at, family), times })),
    );
    const told = await Promise.all(asked);
    const [first = [], ...others] = told.map(outcomes);
    expect(others, `${from} at ${at} of ${offer.name}`).to.deep.equal(others.map(() => first));
    return first;
  }

  async function sysctl(node: string, name: string): Promise<number> {
    return Number(await cluster().lab.output(node, 'sysctl', ['-n', name]));
  }

  it('R22: loses at most one query of each of ten ports when one of two DNS pods goes', async () => {
    const { lab, traffic, apply } = cluster();
    expect(await sysctl('node-a', 'net.ipv4.vs.expire_nodest_conn')).to.equal(1);
    const target = { from: 'a2', protocol: 'udp', address: clusterAddress(DNS, 'IPv4'), port: SERVICE_PORT } as const;
    const ports = await Promise.all(Array.from({ length: 10 }, () => traffic.open(target)));
    expect(new Set(ports.map(({ first }) => first.split(' ')[0]))).to.deep.equal(new Set(['a1', 'b1']));
    const lost = ports.map(() => 0);
    // Ten ports with twenty queries a second wait half a second each before the next.
    const query = (port: Connection, index: number) =>
      port.again(500).then((text) => {
        if (!/^[ab]1 /.test(text)) lost[index] = (lost[index] ?? 0) + 1;
        return text;
      });
    await apply({ ...DNS, pods: ['a1'] });
    const gone = (lines: readonly string[]) => !lines.some((line) => line.includes('-u 10.96.0.61:80 -r 10.180.2.11'));
    while (!gone(await readVirtualServers(lab, 'node-a'))) await Promise.all(ports.map(query));
    await traffic.stopServing('b1', 'b1');
    await Promise.all(ports.map(query));
    const after = await Promise.all(ports.map(query));
    await traffic.serve('b1', 'b1', POD_PORT);
    expect(after).to.deep.equal(ports.map(() => 'a1 10.180.1.12'));
    expect(Math.max(...lost)).to.be.lessThanOrEqual(1);
    await Promise.all(ports.map((port) => port.close()));
  });

  it('R24: has the errors of UDP clients end with the pass that replaces the only pod', async () => {
    const { traffic, offer } = cluster();
    const target = {
      from: 'a2',
      protocol: 'udp',
      address: clusterAddress(ONE_DNS, 'IPv4'),
      port: SERVICE_PORT,
    } as const;
    const ports = await Promise.all([traffic.open(target), traffic.open(target)]);
    await traffic.stopServing('b1', 'b1');
    for (const port of ports) expect(await port.again(500)).to.be.oneOf(['refused', 'timeout']);
    await offer({ ...ONE_DNS, pods: ['b2'] });
    await traffic.serve('b1', 'b1', POD_PORT);
    for (const port of ports) await secondAnswer(port, 'b2 10.180.1.12');
    await Promise.all(ports.map((port) => port.close()));
  });

  it('R33: moves connected UDP sockets of pods, of the node and of outside clients to the new pod', async () => {
    const { lab, traffic, offer } = cluster();
    const inside = { protocol: 'udp', ...frontend(lab, STATISTICS, 'cluster', 'IPv4') } as const;
    const outside = { protocol: 'udp', ...frontend(lab, STATISTICS, 'node-a', 'IPv4') } as const;
    const sockets = await Promise.all([
      traffic.open({ ...inside, from: 'a2' }),
      traffic.open({ ...inside, from: 'node-a' }),
      traffic.open({ ...outside, from: 'client' }),
    ]);
    expect(sockets.map(({ first }) => first)).to.deep.equal(['b1 10.180.1.12', 'b1 192.168.0.11', 'b1 192.168.0.11']);
    await offer({ ...STATISTICS, pods: ['b2'] });
    const seen = ['b2 10.180.1.12', 'b2 192.168.0.11', 'b2 192.168.0.11'];
    for (const [index, socket] of sockets.entries()) await secondAnswer(socket, seen[index] ?? '');
    await Promise.all(sockets.map((socket) => socket.close()));
  });

  /** The first packet may be lost with the flow it belonged to; half a second each keeps both within one. */
  async function secondAnswer(socket: Connection, wanted: string): Promise<void> {
    const first = await socket.again(500);
    expect(first === wanted ? first : await socket.again(500)).to.equal(wanted);
  }

  it('R35: sends a client with affinity to the new pod although it still has a connection to the old one', async () => {
    const { traffic, offer, virtualServers } = cluster();
    for (const { name } of cluster().lab.nodes) {
      expect(await sysctl(name, 'net.ipv4.vs.expire_quiescent_template')).to.equal(1);
    }
    expect(await askAll('a2', STICKY, 'cluster')).to.deep.equal(['b1']);
    const held = await traffic.open({ from: 'a2', protocol: 'tcp', address: '10.96.0.64', port: SERVICE_PORT });
    await offer({ ...STICKY, pods: ['b2'] });
    await virtualServers('node-a', (lines) => lines.includes('-a -t 10.96.0.64:80 -r 10.180.2.11:8080 -m -w 0'));
    expect(await askAll('a2', STICKY, 'cluster')).to.deep.equal(['b2']);
    expect(await held.again()).to.equal(held.first);
    await held.close();
  });

  it('R46: serves pods and the node at a load balancer address without a local pod, and drops outside clients', async () => {
    expect(await askAll('a2', FAR, 'external')).to.deep.equal(['b1']);
    expect(await askAll('node-a', FAR, 'external')).to.deep.equal(['b1']);
    expect(await askAll('client', FAR, 'external', 1)).to.deep.equal(['timeout']);
  });

  it('R50: lets the only pod reach itself at the cluster address, the node port and the load balancer address', async () => {
    for (const at of ['cluster', 'node-a', 'external'] as const) {
      expect(await askAll('a1', ALONE, at), at).to.deep.equal(['a1']);
    }
  });

  it('R51: masquerades the node at a cluster address to its own address', async () => {
    const { lab, traffic } = cluster();
    for (const family of FAMILIES) {
      for (const protocol of PROTOCOLS) {
        const target = { from: 'node-a', protocol, ...frontend(lab, FAR, 'cluster', family), times: 2 };
        const { answers } = await traffic.ask(target);
        expect([...answers]).to.deep.equal([[`b1 ${lab.node('node-a').addresses[family]}`, 2]]);
      }
    }
  });

  it('R60: has no node with strictARP answer for service addresses, and leaves the others as they are', async () => {
    const { lab } = cluster();
    const arp = (node: string) =>
      Promise.all(['arp_ignore', 'arp_announce'].map((name) => sysctl(node, `net.ipv4.conf.all.${name}`)));
    expect([await arp('node-a'), await arp('node-b')]).to.deep.equal([
      [0, 0],
      [1, 2],
    ]);
    const hardware = (node: string) => lab.output(node, 'cat', ['/sys/class/net/eth0/address']);
    const [a, b] = (await Promise.all([hardware('node-a'), hardware('node-b')])).map((text) => text.trim());
    const addresses = [externalAddress(ALONE, 'IPv4'), clusterAddress(ALONE, 'IPv4'), '192.168.0.12'];
    expect(await askWhoHas(lab, 'client', addresses)).to.deep.equal([a, a, b]);
  });

  it('R69: refuses other ports of service addresses, whatever listens on all addresses of the node', async () => {
    const { lab, traffic } = cluster();
    await traffic.serve('node-a', 'host', 9999);
    for (const family of FAMILIES) {
      const told = (from: string, address: string) =>
        traffic.ask({ from, protocol: 'tcp', address, port: 9999 }).then(outcomes);
      for (const address of [
        clusterAddress(OUTER, family),
        externalAddress(OUTER, family),
        externalAddress(ALONE, family),
      ]) {
        for (const from of ['a2', 'node-a', ...(address === clusterAddress(OUTER, family) ? [] : ['client'])]) {
          expect(await told(from, address), `${from} at ${address}`).to.deep.equal(['refused']);
        }
      }
      for (const from of ['a2', 'client']) {
        expect(await told(from, lab.node('node-a').addresses[family])).to.deep.equal(['host']);
      }
    }
    await traffic.stopServing('node-a', 'host');
  });

  it('R70: answers ping at cluster, external and load balancer addresses', async () => {
    const { lab } = cluster();
    const outer = FAMILIES.flatMap((family) => [externalAddress(OUTER, family), externalAddress(ALONE, family)]);
    const all = [...FAMILIES.map((family) => clusterAddress(OUTER, family)), ...outer];
    expect(await ping(lab, 'a2', all)).to.deep.equal(all.map(() => 'answered'));
    expect(await ping(lab, 'client', outer)).to.deep.equal(outer.map(() => 'answered'));
  });

  describe('access', () => describeAccessReports(cluster));
});
