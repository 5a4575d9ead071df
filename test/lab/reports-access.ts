import { expect } from 'chai';
import { FAMILIES } from '../../src/net/family.ts';
import { frontend, outcomes } from './dial.ts';
import { readVirtualServers } from './kernel-state.ts';
import type { LabCluster } from './lab-cluster.ts';
import { type ServiceSketch, service, slice } from './objects.ts';
import { clusterAddress, externalAddress, nodePort, type Offer } from './offers.ts';
import { POD_PORT } from './standard-plan.ts';
import type { Target } from './traffic.ts';

const GUARDED: Offer = {
  name: 'guarded',
  number: 81,
  type: 'LoadBalancer',
  pods: ['a1', 'b1'],
  spec: { loadBalancerSourceRanges: ['192.168.0.200/32', '192.168.0.11/32', 'fd00:168::200/128', 'fd00:168::11/128'] },
};
const UNGUARDED: Offer = { name: 'unguarded', number: 82, type: 'LoadBalancer', pods: ['a1', 'b1'] };
const HEALTH_PORT = 32_083;
const CHECKED: Offer = {
  name: 'checked',
  number: 83,
  type: 'LoadBalancer',
  pods: ['a1'],
  spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: HEALTH_PORT },
};

/** Two Services at one load balancer address: with ranges on TCP 80, without any on TCP 81 and UDP 80. */
const SHARED_ADDRESS = '203.0.113.85';
const SHARERS: readonly ServiceSketch[] = [
  {
    name: 'with-ranges',
    type: 'LoadBalancer',
    clusterIPs: ['10.96.0.85'],
    ports: [{ name: 'tcp', protocol: 'TCP', port: 80 }],
    spec: { loadBalancerSourceRanges: ['192.168.0.11/32'] },
  },
  {
    name: 'without-ranges',
    type: 'LoadBalancer',
    clusterIPs: ['10.96.0.86'],
    ports: [
      { name: 'tcp', protocol: 'TCP', port: 81 },
      { name: 'udp', protocol: 'UDP', port: 80 },
    ],
  },
];

/** Reports about who may reach what; call it in a `describe` of the cluster. */
export function describeAccessReports(cluster: () => LabCluster): void {
  before('their Services', async () => {
    const { lab, api, offer, virtualServers, bound } = cluster();
    for (const sketch of SHARERS) {
      api.apply({ ...service(sketch), status: { loadBalancer: { ingress: [{ ip: SHARED_ADDRESS }] } } });
      api.apply(slice(sketch, POD_PORT, [{ address: lab.pod('b1').addresses.IPv4, nodeName: 'node-b' }]));
    }
    await offer(GUARDED, UNGUARDED, CHECKED);
    for (const { name } of lab.nodes) {
      const servers = [`-t ${SHARED_ADDRESS}:80`, `-t ${SHARED_ADDRESS}:81`, `-u ${SHARED_ADDRESS}:80`];
      const wanted = servers.map((server) => `-a ${server} -r 10.180.2.11:8080 -m -w 1`);
      await virtualServers(name, (lines) => wanted.every((line) => lines.includes(line)));
      await bound(name, (there) => there.includes(SHARED_ADDRESS));
    }
  });

  async function ask(target: Target & { readonly times?: number }): Promise<readonly string[]> {
    return outcomes(await cluster().traffic.ask(target));
  }

  it('R74: lets no forbidden client in and turns no allowed one away while passes change other Services', async () => {
    const { lab, daemons, offer, remove, bound } = cluster();
    const { addresses, secondAddresses } = lab.client();
    const target = { from: 'client', protocol: 'tcp', ...frontend(lab, GUARDED, 'external', 'IPv4') } as const;
    const passes = () => (daemons.get('node-a')?.log() ?? '').split('node programmed').length - 1;
    const passesBefore = passes();
    const asking = { over: false };
    // A forbidden try waits a fifth of a second in vain, so each pair of eight makes five tries a second of both kinds.
    const allowed = { ...target, source: addresses.IPv4 };
    const forbidden = { ...target, source: secondAddresses?.IPv4 ?? '', patienceMs: 200 };
    const pairs = Array.from({ length: 8 }, () => keepAsking([allowed, forbidden], asking));

    const other: Offer = { ...GUARDED, name: 'other', number: 84 };
    await offer(other, { ...UNGUARDED, pods: ['b2'] });
    remove(other);
    await bound('node-a', (there) => !there.includes(externalAddress(other, 'IPv4')));
    await offer({ ...other, spec: {} }, UNGUARDED);

    asking.over = true;
    const counts = await Promise.all(pairs);
    const told = [0, 1].map((which) => new Set(counts.flatMap((each) => each[which] ?? [])));
    expect([...(told[0] ?? [])].sort(), 'what the allowed client was told').to.deep.equal(['a1', 'b1']);
    expect([...(told[1] ?? [])], 'what the forbidden client was told').to.deep.equal(['timeout']);
    expect(passes() - passesBefore, 'passes that changed something').to.be.at.least(3);
  });

  /** Asks each target once, over and over, until it is over; all outcomes of each target. */
  async function keepAsking(targets: readonly Target[], asking: { readonly over: boolean }) {
    const told = targets.map((): string[] => []);
    do {
      const round = await Promise.all(targets.map(ask));
      for (const [index, words] of round.entries()) told[index]?.push(...words);
    } while (!asking.over);
    return told;
  }

  it('R76: holds processes of a node to the ranges, and only for the address, protocol and port that have them', async () => {
    const address = SHARED_ADDRESS;
    expect(await ask({ from: 'node-a', protocol: 'tcp', address, port: 80, times: 2 })).to.deep.equal(['b1']);
    expect(await ask({ from: 'node-b', protocol: 'tcp', address, port: 80 })).to.deep.equal(['timeout']);
    expect(await ask({ from: 'node-b', protocol: 'tcp', address, port: 81, times: 2 })).to.deep.equal(['b1']);
    expect(await ask({ from: 'node-b', protocol: 'udp', address, port: 80, times: 2 })).to.deep.equal(['b1']);
  });

  describe('with an INPUT policy of DROP that accepts established connections only', () => {
    before(() => firewall('DROP', '-A'));
    after(() => firewall('ACCEPT', '-D'));

    async function firewall(policy: 'DROP' | 'ACCEPT', command: '-A' | '-D'): Promise<void> {
      const both = ['iptables', 'ip6tables'].flatMap((tool) => [
        `${tool} -w 5 -P INPUT ${policy}`,
        `${tool} -w 5 ${command} INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT`,
      ]);
      // Without neighbour discovery an IPv6 node cannot even be found.
      const neighbours = [135, 136].map(
        (type) => `ip6tables -w 5 ${command} INPUT -p ipv6-icmp -m icmp6 --icmpv6-type ${type} -j ACCEPT`,
      );
      await cluster().lab.output('node-a', 'sh', ['-ec', [...both, ...neighbours].join('\n')]);
    }

    it('R77: still answers at node ports, load balancer and cluster addresses', async () => {
      const { lab } = cluster();
      for (const family of FAMILIES) {
        for (const protocol of ['tcp', 'udp'] as const) {
          const places = [
            { from: 'client', address: lab.node('node-a').addresses[family], port: nodePort(CHECKED) },
            { from: 'client', address: externalAddress(CHECKED, family), port: 80 },
            { from: 'a2', address: clusterAddress(CHECKED, family), port: 80 },
            { from: 'a2', address: lab.node('node-a').addresses[family], port: nodePort(CHECKED) },
          ];
          for (const place of places) {
            expect(await ask({ ...place, protocol, times: 2 }), `${protocol} ${place.address}`).to.deep.equal(['a1']);
          }
        }
      }
    });

    it('R77: still lets the health check port be reached, and nothing else that the node listens on', async () => {
      const { lab, traffic } = cluster();
      await traffic.serve('node-a', 'host', 9999);
      for (const family of FAMILIES) {
        const place = { from: 'client', protocol: 'tcp', address: lab.node('node-a').addresses[family] } as const;
        expect(await ask({ ...place, port: HEALTH_PORT })).to.not.deep.equal(['timeout']);
        expect(await ask({ ...place, port: 9999 })).to.deep.equal(['timeout']);
      }
      await traffic.stopServing('node-a', 'host');
    });
  });

  it('R100: refuses node ports at loopback addresses at once, without a virtual server there', async () => {
    const lines = await readVirtualServers(cluster().lab, 'node-a');
    expect(lines.filter((line) => / (127\.|\[::1\])/.test(line))).to.deep.equal([]);
    for (const address of ['127.0.0.1', '::1']) {
      for (const protocol of ['tcp', 'udp'] as const) {
        const place = { from: 'node-a', protocol, address, port: nodePort(UNGUARDED) } as const;
        expect(await ask({ ...place, patienceMs: 200 }), `${protocol} ${address}`).to.deep.equal(['refused']);
      }
    }
  });
}
