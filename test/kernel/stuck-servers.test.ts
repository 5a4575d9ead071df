import { expect } from 'chai';
import { PROTOCOLS, type Protocol } from '../../src/net/protocol.ts';
import { describeRefused } from '../../src/plan/refused.ts';
import type { PassReport } from '../../src/sync/proxier.ts';
import { endpointJson, nodeObject, type ObjectJson, serviceObject, sliceObject } from './cluster-objects.ts';
import { kernelText } from './kernel-text.ts';
import { NodeUnderTest } from './node-under-test.ts';
import { refuseLines } from './refusing-tools.ts';

const FLAGS = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' } as const;

/** `shop/cart` at 172.20.1.1 and node port 30080, with Pods 10.180.0.N. */
function cart(protocol: Protocol, pods: readonly number[], ports: readonly number[] = [80]): readonly ObjectJson[] {
  const named = ports.map((port) => ({ name: `p${port}`, protocol, port }));
  return [
    nodeObject('node-a', { addresses: ['192.168.0.10'] }),
    serviceObject('shop/cart', {
      type: 'NodePort',
      ports: named.map((port) => ({ ...port, nodePort: 30000 + port.port })),
    }),
    sliceObject('shop/cart-1', {
      service: 'cart',
      ports: named.map((port) => ({ ...port, port: 8080 })),
      endpoints: pods.map((pod) => endpointJson(`10.180.0.${pod}`, 'node-b')),
    }),
  ];
}

describe('test/kernel/stuck-servers', () => {
  const newNode = () => new NodeUnderTest({ families: ['IPv4'] });
  const realsOf = (node: NodeUnderTest, server: string) =>
    node.ipvs().flatMap((line) => (line.startsWith(`-a ${server} `) ? line.slice(`-a ${server} `.length) : []));

  for (const protocol of PROTOCOLS) {
    const server = `${FLAGS[protocol]} 172.20.1.1:80`;

    it(`${protocol}: a real server that the kernel does not let go of gets no new clients, and comes back when it is wanted again`, async () => {
      const node = newNode();
      await node.apply(cart(protocol, [1, 2]));
      const end = refuseLines(node.kernel, (line) => line.startsWith(`-d ${server} `));
      const report = await node.apply(cart(protocol, [2]));
      const quiet = ['-r 10.180.0.1:8080 -m -w 0', '-r 10.180.0.2:8080 -m -w 1'];
      expect(realsOf(node, server)).to.deep.equal(quiet);
      if (protocol !== 'TCP') {
        expect(saidOf(report)).to.deep.equal([
          `shop/cart: deletion of real server 10.180.0.1:8080 of ${protocol} 172.20.1.1:80`,
        ]);
      }
      node.record(cart(protocol, [2]));
      await node.tryPass('normal', () => false);
      expect(realsOf(node, server)).to.deep.equal(quiet);
      node.record(cart(protocol, [1, 2]));
      expect((await node.tryPass('normal', () => false)).errors).to.deep.equal([]);
      expect(realsOf(node, server)).to.deep.equal(['-r 10.180.0.1:8080 -m -w 1', '-r 10.180.0.2:8080 -m -w 1']);
      await node.apply(cart(protocol, [2]));
      end();
      await node.pass();
      expect(realsOf(node, server)).to.deep.equal(['-r 10.180.0.2:8080 -m -w 1']);
    });

    it(`${protocol}: a virtual server that the kernel does not let go of loses its real servers, whether its address stays or not`, async () => {
      const node = newNode();
      const before = cart(protocol, [1]);
      await node.apply(before);
      await node.apply(cart(protocol, [1], [80, 81]));
      const end = refuseLines(node.kernel, (line) => line.startsWith('-D '));
      for (const [now, gone] of [
        [before, ['172.20.1.1:81', '192.168.0.10:30081']],
        [before.slice(0, 1), ['172.20.1.1:80', '192.168.0.10:30080']],
      ] as const) {
        const report = await node.apply(now);
        expect([report.refusals, leftIn(report)]).to.deep.equal([
          [],
          [...gone]
            .map((each) => `deletion of virtual server ${protocol} ${each}`)
            .concat(
              now === before
                ? []
                : ['172.20.1.1:81', '192.168.0.10:30081'].map(
                    (each) => `deletion of virtual server ${protocol} ${each}`,
                  ),
            )
            .sort(),
        ]);
        for (const each of gone) {
          expect(node.ipvs().filter((line) => line.includes(` ${each} `))).to.deep.equal([
            `-A ${FLAGS[protocol]} ${each} -s rr`,
          ]);
        }
      }
      expect(node.bound()).to.deep.equal([]);
      end();
      node.restart();
      await node.apply(before.slice(0, 1), 'full');
      expect(node.ipvs()).to.deep.equal([]);
    });

    it(`${protocol}: where its real servers do not go either, they get no new clients`, async () => {
      const node = newNode();
      await node.apply(cart(protocol, [1]));
      refuseLines(node.kernel, (line) => /^-[Dd] /.test(line));
      await node.apply(cart(protocol, [1]).slice(0, 1));
      await node.pass();
      expect(realsOf(node, server)).to.deep.equal(['-r 10.180.0.1:8080 -m -w 0']);
      expect(kernelText(node.kernel)).to.include('add KUBE-CLUSTER-IP 172.20.1.1,');
    });
  }

  for (const [what, refused] of [
    ['a virtual server', /^-D /],
    ['an address', /^address delete /],
  ] as const) {
    it(`tries ${what} that the kernel does not let go of again, though somebody has taken away the entries that tell whose it is`, async () => {
      const node = newNode();
      await node.apply(cart('SCTP', [1]));
      const end = refuseLines(node.kernel, (line) => refused.test(line));
      for (const set of ['CLUSTER-IP', 'NODE-PORT-SCTP-HASH', 'IPVS-IPS']) {
        node.kernel.ipsets.restore(`flush KUBE-${set}\n`);
      }
      node.record([]);
      expect((await node.tryPass('full')).errors).to.deep.equal([]);
      await node.tryPass('normal');
      expect([node.ipvs().length > 0, node.bound().length > 0]).to.include(true);
      end();
      await node.pass('normal');
      expect([node.ipvs(), node.bound()]).to.deep.equal([[], []]);
    });
  }

  it('sends nobody to an endpoint that does not go of a frontend which is closed to the node and is refused its address', async () => {
    const node = newNode();
    const closed = serviceObject('shop/cart', {
      type: 'LoadBalancer',
      ports: [{ name: 'p80', protocol: 'UDP', port: 80, nodePort: 30080 }],
      ingress: [{ ip: '198.51.100.1' }],
      loadBalancerSourceRanges: ['10.0.0.0/8'],
    });
    const objects = [...cart('UDP', [1]).filter(({ kind }) => kind !== 'Service'), closed];
    const end = refuseLines(node.kernel, (line) => /^(address replace|-d -u) 198\.51\.100\.1/.test(line));
    node.record(objects);
    expect((await node.tryPass('full')).errors).to.deep.equal([]);
    expect(realsOf(node, '-u 198.51.100.1:80')).to.deep.equal(['-r 10.180.0.1:8080 -m -w 0']);
    end();
    await node.pass('normal');
    expect(realsOf(node, '-u 198.51.100.1:80')).to.deep.equal(['-r 10.180.0.1:8080 -m -w 1']);
    expect(node.bound()).to.include('198.51.100.1');
  });

  it('keeps clients out of what it can neither delete nor change, as long as it stands', async () => {
    const ranges = { ingress: [{ ip: '198.51.100.1' }], loadBalancerSourceRanges: ['10.0.0.0/8'] };
    const [node, ...objects] = cart('UDP', [1]);
    const port = { name: 'p80', protocol: 'UDP', port: 80 };
    const balanced = serviceObject('shop/cart', { type: 'LoadBalancer', ports: [port], ...ranges });
    const under = newNode();
    await under.apply([node ?? {}, balanced, ...objects.slice(1)]);
    const end = refuseLines(under.kernel, (line) => /^-[Dde] /.test(line));
    await under.apply([node ?? {}]);
    expect(realsOf(under, '-u 198.51.100.1:80')).to.deep.equal(['-r 10.180.0.1:8080 -m -w 1']);
    expect(under.set('KUBE-LOAD-BALANCER-FW')).to.deep.equal(['198.51.100.1,udp:80']);
    expect(under.set('KUBE-LOAD-BALANCER-SOURCE-CIDR')).to.deep.equal(['198.51.100.1,udp:80,10.0.0.0/8']);
    end();
    await under.pass('full');
    expect([under.ipvs(), under.set('KUBE-LOAD-BALANCER-FW')]).to.deep.equal([[], []]);
  });

  const refusals = (node: NodeUnderTest) =>
    node.rules('filter', 'KUBE-IPVS-FILTER').filter((rule) => rule.includes('--ctorigdstport'));
  const refusalOf = (address: string, port: number, protocol: Protocol) =>
    `-d ${address}/32 -p ${protocol.toLowerCase()} -m conntrack --ctstate NEW --ctorigdstport ${port} ` +
    `-j REJECT --reject-with ${protocol === 'TCP' ? 'tcp-reset' : 'icmp-port-unreachable'}`;

  for (const protocol of PROTOCOLS) {
    const both = [refusalOf('172.20.1.1', 80, protocol), refusalOf('192.168.0.10', 30080, protocol)];

    it(`${protocol}: refuses by rules whoever would come to what it can neither delete nor change, until it can or it is wanted again`, async () => {
      const node = newNode();
      await node.apply(cart(protocol, [1]));
      const end = refuseLines(node.kernel, (line) => /^-[Dde] /.test(line));
      await node.apply(cart(protocol, [1]).slice(0, 1));
      expect(realsOf(node, `${FLAGS[protocol]} 192.168.0.10:30080`)).to.deep.equal(['-r 10.180.0.1:8080 -m -w 1']);
      expect(node.rules('filter', 'KUBE-IPVS-FILTER').slice(0, 2)).to.deep.equal(both);
      node.takeScripts();
      expect(await node.drift()).to.deep.equal([]);
      await node.pass();
      expect(node.takeScripts().join('')).to.not.include('KUBE-IPVS-FILTER');
      node.restart();
      await node.apply(cart(protocol, [1]).slice(0, 1), 'full');
      expect(refusals(node)).to.deep.equal(both);
      await node.apply(cart(protocol, [1]));
      expect(refusals(node)).to.deep.equal([]);
      await node.apply(cart(protocol, []));
      expect(refusals(node), 'without an endpoint').to.deep.equal(both);
      await node.apply(cart(protocol, [2]));
      expect(refusals(node), 'with another one').to.deep.equal([]);
      await node.apply(cart(protocol, [1]).slice(0, 1));
      end();
      await node.pass('full');
      expect([node.ipvs(), refusals(node)]).to.deep.equal([[], []]);
    });
  }

  it('puts rules of that sort back where somebody takes them away', async () => {
    const node = newNode();
    await node.apply(cart('TCP', [1]));
    refuseLines(node.kernel, (line) => /^-[Dde] /.test(line));
    await node.apply(cart('TCP', [1]).slice(0, 1));
    const before = refusals(node);
    node.kernel.tables.IPv4.restore(`*filter\n-D KUBE-IPVS-FILTER ${before[0]}\nCOMMIT\n`);
    expect(await node.drift()).to.deep.equal(['IPv4 rules of KUBE-IPVS-FILTER in table filter']);
    await node.pass();
    expect(refusals(node)).to.deep.equal(before);
  });

  it('keeps what guards a frontend whose only real server neither goes nor changes, and not where it has others', async () => {
    const local = (pods: readonly (readonly [number, string])[]) => [
      ...cart('UDP', []).slice(0, 1),
      serviceObject('shop/cart', {
        type: 'NodePort',
        ports: [{ name: 'p80', protocol: 'UDP', port: 80, nodePort: 30080 }],
        externalTrafficPolicy: 'Local',
      }),
      sliceObject('shop/cart-1', {
        service: 'cart',
        ports: [{ name: 'p80', protocol: 'UDP', port: 8080 }],
        endpoints: pods.map(([pod, node]) => endpointJson(`10.180.0.${pod}`, node)),
      }),
    ];
    const [frontend, guard] = ['-u 192.168.0.10:30080', '192.168.0.10,udp:30080'];
    for (const isChanged of [true, false]) {
      const node = newNode();
      await node.apply(local([[1, 'node-b']]));
      refuseLines(node.kernel, (line) => (isChanged ? /^-d / : /^-[de] /).test(line));
      await node.apply(local([]));
      expect(realsOf(node, frontend)).to.deep.equal([`-r 10.180.0.1:8080 -m -w ${isChanged ? 0 : 1}`]);
      expect(node.set('KUBE-EXTERNAL-NO-LOCAL')).to.deep.equal(isChanged ? [] : [guard]);
      await node.apply(local([[2, 'node-a']]));
      expect(realsOf(node, frontend)).to.include('-r 10.180.0.2:8080 -m -w 1');
      expect(node.set('KUBE-EXTERNAL-NO-LOCAL')).to.deep.equal([]);
    }
  });
});

function saidOf({ refusals }: PassReport): readonly string[] {
  const said = refusals.map(({ service, refused }) => `${service}: ${describeRefused(refused)}`);
  return [...new Set(said)].sort();
}

function leftIn({ families }: PassReport): readonly string[] {
  return families.flatMap(({ leftovers }) => leftovers.map(({ refused }) => describeRefused(refused))).sort();
}
