import { expect } from 'chai';
import { type NodeState, readNodeState, readVirtualServers } from './kernel-state.ts';
import type { Lab } from './lab.ts';
import { useLab } from './shared-lab.ts';
import { POD_PORT } from './standard-plan.ts';
import { countByPeer, type TrafficProtocol } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const PROTOCOLS: readonly TrafficProtocol[] = ['tcp', 'udp', 'sctp', 'http'];

const VIRTUAL_SERVERS = [
  '-A -t 10.96.0.10:80 -s rr',
  '-a -t 10.96.0.10:80 -r 10.180.1.11:8080 -m -w 1',
  '-a -t 10.96.0.10:80 -r 10.180.2.11:8080 -m -w 1',
  '-A -t 192.168.0.11:30080 -s rr',
  '-a -t 192.168.0.11:30080 -r 10.180.1.11:8080 -m -w 1',
  '-a -t 192.168.0.11:30080 -r 10.180.2.11:8080 -m -w 1',
  '-A -t [fd00:96::10]:80 -s rr',
  '-a -t [fd00:96::10]:80 -r [fd00:180:1::11]:8080 -m -w 1',
  '-a -t [fd00:96::10]:80 -r [fd00:180:2::11]:8080 -m -w 1',
];

const SETS = `create KUBE-CLUSTER-IP hash:ip,port family inet
create KUBE-6-CLUSTER-IP hash:ip,port family inet6
create KUBE-NODE-PORT-TCP bitmap:port range 0-65535
add KUBE-CLUSTER-IP 10.96.0.10,tcp:80
add KUBE-6-CLUSTER-IP fd00:96::10,tcp:80
add KUBE-NODE-PORT-TCP 30080
`;

function rules(clusterIpSet: string, clusterCidr: string): string {
  return `*nat
:KUBE-SERVICES - [0:0]
:KUBE-POSTROUTING - [0:0]
-A OUTPUT -j KUBE-SERVICES
-A PREROUTING -j KUBE-SERVICES
-A POSTROUTING -j KUBE-POSTROUTING
-A KUBE-SERVICES -m set --match-set ${clusterIpSet} dst,dst ! -s ${clusterCidr} -j MARK --set-xmark 0x4000/0x4000
-A KUBE-SERVICES -p tcp -m addrtype --dst-type LOCAL -m set --match-set KUBE-NODE-PORT-TCP dst -j MARK --set-xmark 0x4000/0x4000
-A KUBE-POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE
COMMIT
`;
}

async function programNode(lab: Lab, node: string): Promise<void> {
  await lab.output(node, 'sysctl', ['-q', 'net.ipv4.vs.conntrack=1']);
  await lab.output(node, 'ipset', ['restore'], { input: SETS });
  await lab.output(node, 'iptables-restore', ['-w', '5', '--noflush'], {
    input: rules('KUBE-CLUSTER-IP', '10.180.0.0/16'),
  });
  await lab.output(node, 'ip6tables-restore', ['-w', '5', '--noflush'], {
    input: rules('KUBE-6-CLUSTER-IP', 'fd00:180::/32'),
  });
  await lab.output(node, 'ipvsadm', ['-R'], { input: `${VIRTUAL_SERVERS.join('\n')}\n` });
  await lab.output(node, 'ip', ['-batch', '-'], {
    input: `link add kube-ipvs0 type dummy
address add 10.96.0.10/32 dev kube-ipvs0
address add fd00:96::10/128 dev kube-ipvs0
`,
  });
}

describe('test/lab/lab', () => {
  const shared = useLab();

  it('has what the plan says, by name', () => {
    const { lab } = shared();
    expect(lab.nodes.map(({ name, zone }) => [name, zone])).to.deep.equal([
      ['node-a', 'zone-a'],
      ['node-b', 'zone-b'],
    ]);
    expect(lab.pods.map(({ name }) => name)).to.deep.equal(['a1', 'a2', 'b1', 'b2']);
    expect(lab.client().addresses.IPv4).to.equal('192.168.0.200');
    expect(() => lab.node('a1')).to.throw('the lab has no node a1');
  });

  it('runs commands in a namespace, with their input, outputs and status', async () => {
    const { lab } = shared();
    const script = 'cat; echo wrong >&2; ip -o -4 address show dev eth0 | grep -o 10.180.2.12; exit 3';
    expect(await lab.run('b2', 'sh', ['-c', script], { input: 'in\n' })).to.deep.equal({
      stdout: 'in\n10.180.2.12\n',
      stderr: 'wrong\n',
      exitCode: 3,
    });
    const failure = await lab.output('b2', 'sh', ['-c', 'echo why >&2; exit 4']).catch(String);
    expect(failure).to.equal('Error: in b2: sh -c echo why >&2; exit 4: status 4\nwhy\n');
  });

  it('starts daemons in a namespace and ends them', async () => {
    const { lab } = shared();
    const script = 'trap "echo bye; exit 5" TERM; echo $GREETING; while :; do sleep 0.1; done';
    const daemon = lab.spawn('node-b', 'sh', ['-c', script], { env: { GREETING: 'hello' } });
    await waitFor(
      'its greeting',
      () => daemon.log(),
      (log) => log === 'hello\n',
    );
    expect(await daemon.stop()).to.deep.equal({ exitCode: 5 });
    expect(daemon.log()).to.equal('hello\nbye\n');
    expect(await lab.spawn('node-b', 'sleep', ['100']).kill()).to.deep.equal({ signal: 'SIGKILL' });
  });

  for (const family of ['IPv4', 'IPv6'] as const) {
    for (const protocol of PROTOCOLS) {
      it(`carries ${protocol} over ${family} between pods and from outside, with the source kept`, async () => {
        const { lab, traffic } = shared();
        const ask = (from: string, to: string) =>
          traffic.ask({ from, protocol, address: lab.pod(to).addresses[family], port: POD_PORT, times: 2 });
        const replies = await Promise.all([ask('a1', 'a2'), ask('a2', 'b1'), ask('client', 'b2'), ask('node-a', 'b2')]);
        expect(replies.map(({ answers }) => [...answers])).to.deep.equal([
          [[`a2 ${lab.pod('a1').addresses[family]}`, 2]],
          [[`b1 ${lab.pod('a2').addresses[family]}`, 2]],
          [[`b2 ${lab.client().addresses[family]}`, 2]],
          [[`b2 ${lab.node('node-a').addresses[family]}`, 2]],
        ]);
      });
    }
  }

  it('asks from a source that is chosen', async () => {
    const { lab, traffic } = shared();
    const source = lab.client().secondAddresses?.IPv4 ?? '';
    const replies = await traffic.ask({
      from: 'client',
      protocol: 'tcp',
      address: '10.180.1.11',
      port: POD_PORT,
      source,
    });
    expect(countByPeer(replies)).to.deep.equal(new Map([['192.168.0.220', 1]]));
  });

  it('lets nodes and pods reach the test process', async () => {
    const { lab, traffic } = shared();
    await traffic.serve('root', 'api', 6443);
    for (const family of ['IPv4', 'IPv6'] as const) {
      const target = { protocol: 'http', address: lab.root.addresses[family], port: 6443 } as const;
      const fromNode = await traffic.ask({ from: 'node-b', ...target });
      const fromPod = await traffic.ask({ from: 'a1', ...target });
      expect([...fromNode.answers.keys()]).to.deep.equal([`api ${lab.node('node-b').addresses[family]}`]);
      expect([...fromPod.answers.keys()]).to.deep.equal([`api ${lab.pod('a1').addresses[family]}`]);
    }
    await traffic.stopServing('root', 'api');
  });

  it('keeps connections open, and loses them with their server', async () => {
    const { traffic } = shared();
    await traffic.serve('b2', 'extra', 9000);
    const target = { from: 'a1', address: '10.180.2.12', port: 9000 };
    const connections = await Promise.all(
      (['tcp', 'udp', 'sctp'] as const).map((protocol) => traffic.open({ ...target, protocol })),
    );
    expect(connections.map(({ first }) => first)).to.deep.equal(Array(3).fill('extra 10.180.1.11'));
    expect(await Promise.all(connections.map((one) => one.again()))).to.deep.equal(Array(3).fill('extra 10.180.1.11'));
    await traffic.stopServing('b2', 'extra');
    const [tcp, udp] = await Promise.all(connections.map((one) => one.again()));
    expect(tcp).to.be.oneOf(['closed', 'reset']);
    expect(udp).to.equal('refused');
    await Promise.all(connections.map((one) => one.close()));
  });

  it('reports what refuses, and answers again when it is back', async () => {
    const { traffic } = shared();
    await traffic.stopServing('b2', 'b2');
    const ask = (protocol: TrafficProtocol) =>
      traffic.ask({ from: 'a2', protocol, address: '10.180.2.12', port: POD_PORT, times: 2 });
    const refused = await Promise.all(PROTOCOLS.map(ask));
    expect(refused.map(({ answers, troubles }) => [answers.size, ...troubles])).to.deep.equal(
      Array(PROTOCOLS.length).fill([0, ['refused', 2]]),
    );
    await traffic.serve('b2', 'b2', POD_PORT);
    expect([...(await ask('http')).answers]).to.deep.equal([['b2 10.180.1.12', 2]]);
  });

  it('tells a helper request that cannot be done from one that gets no answer', async () => {
    const { traffic } = shared();
    const target = { from: 'nowhere', protocol: 'tcp', address: '10.180.2.12', port: POD_PORT } as const;
    expect(await traffic.open(target).catch(String)).to.include('nowhere');
    const dropped = { ...target, from: 'a1', address: '192.168.0.99', patienceMs: 200 };
    expect([...(await traffic.ask(dropped)).troubles]).to.deep.equal([['timeout', 1]]);
  });

  describe('with a node programmed by hand', () => {
    let untouched: NodeState;
    before(async () => {
      untouched = await readNodeState(shared().lab, 'node-a');
      await programNode(shared().lab, 'node-a');
    });

    it('reads back what was programmed', async () => {
      const state = await readNodeState(shared().lab, 'node-a');
      expect(state.ipvs).to.deep.equal(VIRTUAL_SERVERS.toSorted());
      expect(state.boundAddresses).to.deep.equal(['10.96.0.10/32', 'fd00:96::10/128']);
      expect(state.sets).to.deep.equal(
        new Map([
          ['KUBE-CLUSTER-IP', ['10.96.0.10,tcp:80']],
          ['KUBE-6-CLUSTER-IP', ['fd00:96::10,tcp:80']],
          ['KUBE-NODE-PORT-TCP', ['30080']],
        ]),
      );
      expect(state.iptables).to.include('-A KUBE-POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE\n');
      expect(state.ip6tables).to.include('--match-set KUBE-6-CLUSTER-IP dst,dst');
    });

    const rows = [
      { name: 'pod to its VIP', from: 'a2', to: ['10.96.0.10', 80], a1: '10.180.1.12', b1: '10.180.1.12' },
      { name: 'pod to its IPv6 VIP', from: 'a2', to: ['fd00:96::10', 80], a1: 'fd00:180:1::12', b1: 'fd00:180:1::12' },
      { name: 'node to the VIP', from: 'node-a', to: ['10.96.0.10', 80], a1: '10.180.1.1', b1: '192.168.0.11' },
      {
        name: 'outside to the node port',
        from: 'client',
        to: ['192.168.0.11', 30080],
        a1: '10.180.1.1',
        b1: '192.168.0.11',
      },
    ] as const;
    for (const { name, from, to, a1, b1 } of rows) {
      it(`carries ${name}, spread evenly`, async () => {
        const [address, port] = to;
        const { answers } = await shared().traffic.ask({ from, protocol: 'http', address, port, times: 6 });
        expect(answers).to.deep.equal(
          new Map([
            [`a1 ${a1}`, 3],
            [`b1 ${b1}`, 3],
          ]),
        );
      });
    }

    it('leaves nothing of it after a reset', async () => {
      const { lab, traffic } = shared();
      await lab.resetNode('node-a');
      expect(await readNodeState(lab, 'node-a')).to.deep.equal(untouched);
      expect(untouched).to.deep.include({ ipvs: [], boundAddresses: undefined, sets: new Map() });
      expect(untouched.iptables).to.not.include('KUBE');
      expect(await readVirtualServers(lab, 'node-b')).to.deep.equal([]);
      expect(await lab.output('node-a', 'sysctl', ['-n', 'net.ipv4.vs.conntrack'])).to.equal('0\n');
      expect(await lab.output('node-a', 'conntrack', ['-L', '-p', 'tcp', '--orig-dst', '10.96.0.10'])).to.equal('');
      const direct = await traffic.ask({ from: 'b1', protocol: 'tcp', address: '10.180.1.12', port: POD_PORT });
      expect([...direct.answers]).to.deep.equal([['a2 10.180.2.11', 1]]);
    });
  });
});
