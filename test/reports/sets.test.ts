import { expect } from 'chai';
import type { ToolCall, ToolError } from '../../src/apply/tool.ts';
import { decodeObjects } from '../../src/kube/cluster-objects.ts';
import { describeProblem } from '../../src/model/problem.ts';
import { endpointJson, type ObjectJson, serviceObject, sliceObject } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, cart, NODE_PORT, otherService } from './cart.ts';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;

describe('test/reports/sets', () => {
  /** Services with 100 ports each, until there are so many ports. */
  function ports(count: number): readonly ObjectJson[] {
    return Array.from({ length: count / 100 }, (_, index) =>
      serviceObject(`shop/s${index}`, {
        clusterIPs: [`172.21.${index >> 8}.${index & 255}`],
        ports: Array.from({ length: 100 }, (__, port) => ({ name: `p${port}`, protocol: 'TCP', port: 80 + port })),
      }),
    );
  }

  it('R91: 70,000 entries are all there, and the set is exchanged once, full', async () => {
    const node = new NodeUnderTest();
    await node.apply(ports(65_000));
    node.takeScripts();
    await node.apply(ports(70_000));
    expect(node.set('KUBE-CLUSTER-IP')).to.have.lengthOf(70_000);
    const scripts = node.takeScripts().filter((script) => script.startsWith('ipset: '));
    expect(scripts).to.have.lengthOf(1);
    const lines = (scripts[0] ?? '').slice('ipset: '.length).trimEnd().split('\n');
    const swap = lines.indexOf('swap KUBE-CLUSTER-IP KUBE-EXCHANGE');
    expect(lines.filter((line) => line.startsWith('swap'))).to.have.lengthOf(1);
    const filled = lines.slice(0, swap).filter((line) => line.startsWith('add KUBE-EXCHANGE '));
    expect(filled).to.have.lengthOf(70_000);
    expect(lines.filter((line) => /^(del|flush|destroy) /.test(line))).to.deep.equal(['destroy KUBE-EXCHANGE']);
    expect(node.set('KUBE-EXCHANGE')).to.equal(undefined);
  }).timeout(60_000);

  it('R91: a first pass makes the set as large as it has to be', async () => {
    const node = new NodeUnderTest();
    await node.apply(ports(70_000));
    expect(node.set('KUBE-CLUSTER-IP')).to.have.lengthOf(70_000);
    expect(node.takeScripts().join('')).to.not.include('swap ');
  }).timeout(60_000);

  it('R91: the room of sets can be set; what stands is exchanged once without a gap, and doubled from there on', async () => {
    const node = new NodeUnderTest({ settings: { setRoom: 1024 } });
    await node.apply(ports(1000));
    node.restart({ ...node.settings, setRoom: 2048 });
    node.takeScripts();
    await node.apply(ports(1000), 'full');
    const room = () => /create KUBE-CLUSTER-IP .* maxelem (\d+)/.exec(node.kernel.ipsets.save())?.[1];
    expect([room(), node.set('KUBE-CLUSTER-IP')?.length]).to.deep.equal(['2048', 1000]);
    expect(node.takeScripts().join(''))
      .to.include('swap KUBE-CLUSTER-IP KUBE-EXCHANGE')
      .and.not.match(/^(del|flush) /m);
    await node.apply(ports(3000));
    expect([room(), node.set('KUBE-CLUSTER-IP')?.length]).to.deep.equal(['4096', 3000]);
  });

  /** The tool refuses a whole script in which it finds this. */
  function refuse(node: NodeUnderTest, refused: RegExp): void {
    const { kernel } = node;
    const { runTool } = kernel;
    kernel.runTool = async (call) => {
      if (call.tool !== 'ipset' || !refused.test(call.input ?? '')) return runTool(call);
      return { ok: false, error: refusal(call) };
    };
  }

  function refusal({ tool, input = '' }: ToolCall): ToolError {
    return { kind: 'tool-refused', tool, exitCode: 1, stderr: 'ipset v6.11: Unknown argument\n', script: input };
  }

  it('R93: sets are made and filled where the tool does not know comments', async () => {
    const node = new NodeUnderTest();
    refuse(node, /comment/);
    await node.apply(balancedCart());
    expect(node.set('KUBE-CLUSTER-IP')).to.deep.equal(['172.20.1.1,tcp:80']);
    expect(node.set('KUBE-LOAD-BALANCER')).to.deep.equal(['203.0.113.5,tcp:80']);
  });

  it('R94: entries of all protocols are there where the tool knows no names of protocols, and stay as they are', async () => {
    const node = new NodeUnderTest();
    refuse(node, /tcp|udp|sctp/);
    const { kernel } = node;
    const { runTool } = kernel;
    kernel.runTool = async (call) => {
      const ran = await runTool(call);
      if (!ran.ok || [call.tool, ...call.args].join(' ') !== 'ipset save') return ran;
      const stdout = ran.value.stdout.replace(/,(tcp|udp|sctp):/g, (_, name) => `,${NUMBERS[name as 'tcp']}:`);
      return { ok: true, value: { ...ran.value, stdout } };
    };
    const named = PROTOCOLS.map((protocol, index) => ({ name: protocol.toLowerCase(), protocol, port: 80 + index }));
    const objects = [
      serviceObject('shop/cart', { ports: named }),
      sliceObject('shop/cart-1', { service: 'cart', ports: named, endpoints: [endpointJson('10.180.0.5', 'node-a')] }),
    ];
    await node.apply(objects);
    const entries = ['172.20.1.1,sctp:82', '172.20.1.1,tcp:80', '172.20.1.1,udp:81'];
    expect(node.set('KUBE-CLUSTER-IP')).to.deep.equal(entries);
    node.restart();
    node.takeScripts();
    await node.apply(objects, 'full');
    expect(node.takeScripts()).to.deep.equal([]);
  });

  it('R95: on a node with IPv6 alone all sets and entries are of IPv6, and no tool of IPv4 is started', async () => {
    const node = new NodeUnderTest({ families: ['IPv6'] });
    const ports6 = [{ name: 'http', protocol: 'TCP', port: 8080 }];
    await node.apply([
      serviceObject('shop/cart', { type: 'NodePort', clusterIPs: ['fd00:20::1'], ports: [NODE_PORT] }),
      sliceObject('shop/cart-1', {
        service: 'cart',
        family: 'IPv6',
        ports: ports6,
        endpoints: [endpointJson('fd00:180::5', 'node-a')],
      }),
    ]);
    expect(node.set('KUBE-6-CLUSTER-IP')).to.deep.equal(['fd00:20::1,tcp:80']);
    expect(node.set('KUBE-6-LOOP-BACK')).to.deep.equal(['fd00:180::5,tcp:8080,fd00:180::5']);
    expect(node.set('KUBE-6-NODE-PORT-TCP')).to.deep.equal(['30080']);
    const creations = node.kernel.ipsets
      .save()
      .split('\n')
      .filter((line) => line.startsWith('create '));
    expect(creations.filter((line) => !line.startsWith('create KUBE-6-') || / inet /.test(line))).to.deep.equal([]);
    expect(node.kernel.calls.filter(({ tool }) => tool.startsWith('iptables'))).to.deep.equal([]);
    expect(node.bound()).to.deep.equal(['fd00:20::1']);
  });

  it('R97: an IPv6 address in the status of an IPv4 Service is left out, told of once, and stops nothing', async () => {
    const node = new NodeUnderTest({ families: ['IPv4'] });
    const objects = [...balancedCart({ ingress: [{ ip: '203.0.113.5' }, { ip: '2001:db8::5' }] }), ...otherService(1)];
    const report = await node.apply(objects);
    expect(report.refusals).to.deep.equal([]);
    expect(node.bound()).to.deep.equal(['172.20.1.1', '172.20.2.1', '203.0.113.5']);
    expect(node.ipvs().join('\n')).to.include('-A -t 203.0.113.5:80').and.include('-A -t 172.20.2.1:80');
    expect(node.takeScripts().join('')).to.not.include('2001:db8::5');
    expect(decodeObjects(objects).problems.map(describeProblem)).to.deep.equal([
      'Service shop/cart: status.loadBalancer.ingress[1].ip: "2001:db8::5" is of a family that the Service does not have; it is not served',
    ]);
  });

  it('R97: the second family of a Service with two is passed over on a node with one', async () => {
    const node = new NodeUnderTest({ families: ['IPv4'] });
    const report = await node.apply([
      ...cart({ clusterIPs: ['172.20.1.1', 'fd00:20::1'], externalIPs: ['198.51.100.7', '2001:db8::5'] }),
    ]);
    expect(report.refusals).to.deep.equal([]);
    expect(node.bound()).to.deep.equal(['172.20.1.1', '198.51.100.7']);
  });
});

const NUMBERS = { tcp: 6, udp: 17, sctp: 132 } as const;
