import { expect } from 'chai';
import { whyNotInLab } from './in-lab.ts';
import { cleanRules, parseAddresses, parseSets, sortedLines } from './kernel-state.ts';
import { computeHosts, type LabPlan, renderBuild, renderDestroy } from './topology.ts';
import { countByPeer, countByServer } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const plan: LabPlan = {
  families: ['IPv4', 'IPv6'],
  nodes: [
    { name: 'node-a', number: 1, zone: 'zone-a', pods: [{ name: 'a1' }, { name: 'a2' }] },
    { name: 'node-b', number: 2, pods: [] },
  ],
  clients: [{ name: 'client', routes: [{ to: '203.0.113.0/24', via: 'node-b' }] }],
};

function batch(of: LabPlan, namespace: string): string {
  return renderBuild(of)
    .filter((part) => part.namespace === namespace)
    .map(({ text }) => text)
    .join('');
}

describe('test/lab/topology', () => {
  it('gives nodes, pods and clients their addresses', () => {
    const hosts = computeHosts(plan);
    expect(hosts.get('node-b')?.addresses).to.deep.equal({ IPv4: '192.168.0.12', IPv6: 'fd00:168::12' });
    expect(hosts.get('a2')).to.deep.equal({
      name: 'a2',
      kind: 'pod',
      namespace: 'a2',
      addresses: { IPv4: '10.180.1.12', IPv6: 'fd00:180:1::12' },
      node: 'node-a',
      zone: 'zone-a',
    });
    expect(hosts.get('client')?.secondAddresses).to.deep.equal({ IPv4: '192.168.0.220', IPv6: 'fd00:168::220' });
    expect(hosts.get('root')?.addresses).to.deep.equal({ IPv4: '192.168.0.1', IPv6: 'fd00:168::1' });
  });

  it('makes namespaces and links first', () => {
    expect(renderBuild(plan)[0]).to.deep.equal({
      namespace: 'root',
      text: `netns add lan
netns add client
netns add node-a
netns add node-b
netns add a1
netns add a2
link add br0 netns lan type bridge mcast_snooping 0
link add lab0 type veth peer root netns lan
link add eth0 netns client type veth peer client netns lan
link add eth0 netns node-a type veth peer node-a netns lan
link add eth0 netns node-b type veth peer node-b netns lan
link add eth0 netns a1 type veth peer a1 netns node-a
link add eth0 netns a2 type veth peer a2 netns node-a
`,
    });
  });

  it('makes a pod reach everything through its node', () => {
    expect(batch(plan, 'a1')).to.equal(`link set lo up
link set eth0 addrgenmode none up
address add 10.180.1.11/32 dev eth0
route add 10.180.1.1 dev eth0
route add default via 10.180.1.1 dev eth0
address add fe80::1:11/64 dev eth0 nodad
address add fd00:180:1::11/128 dev eth0 nodad
route add default via fe80::1 dev eth0
`);
  });

  it('routes the pods of other nodes to their node, and what a client asks for', () => {
    expect(batch(plan, 'node-a'))
      .to.include('route add 10.180.2.0/24 via 192.168.0.12\n')
      .and.not.include('10.180.1.0/24');
    expect(batch(plan, 'client')).to.include('route add 203.0.113.0/24 via 192.168.0.12\n');
  });

  it('leaves out families that are not planned', () => {
    const texts = renderBuild({ ...plan, families: ['IPv4'] }).map(({ text }) => text);
    expect(texts.join('')).to.not.match(/:/);
    expect(
      renderBuild({ ...plan, families: ['IPv6'] })
        .map(({ text }) => text)
        .join(''),
    ).to.not.match(/\d\.\d/);
  });

  it('refuses a route through something that is not a node', () => {
    const wrong = { ...plan, clients: [{ name: 'client', routes: [{ to: '203.0.113.0/24', via: 'a1' }] }] };
    expect(() => renderBuild(wrong)).to.throw('routes 203.0.113.0/24 to a1');
  });

  it('removes every namespace it makes', () => {
    const made = [...(renderBuild(plan)[0]?.text ?? '').matchAll(/^netns add (.*)$/gm)].map(([, name]) => name);
    const removed = [...renderDestroy(plan).text.matchAll(/^netns del (.*)$/gm)].map(([, name]) => name);
    expect(removed).to.deep.equal(made);
  });
});

describe('test/lab/in-lab', () => {
  const uml = { inLab: 'uml', cpuinfo: 'model name : UML\nmode : skas\nhost : …\nvendor_id : User Mode Linux\n' };
  const inside = { netNamespace: 'net:[4026532178]', pidNamespace: 'pid:[4026532180]' };
  const cases = [
    { name: 'user-mode Linux', ...uml, ...inside, why: undefined },
    { name: 'fresh namespaces', inLab: inside.netNamespace, cpuinfo: '', ...inside, why: undefined },
    { name: 'no variable', ...inside, inLab: undefined, cpuinfo: '', why: 'IN_LAB' },
    { name: 'a forged variable', ...inside, inLab: 'uml', cpuinfo: 'GenuineIntel', why: 'not user-mode Linux' },
    { name: 'another namespace', ...inside, inLab: 'net:[4026531840]', cpuinfo: '', why: 'network namespace' },
    {
      name: 'the first PID namespace',
      ...inside,
      inLab: inside.netNamespace,
      cpuinfo: '',
      pidNamespace: 'pid:[4026531836]',
      why: 'PID namespace',
    },
  ];
  for (const { name, why, ...surroundings } of cases) {
    it(`${why === undefined ? 'accepts' : 'refuses'} ${name}`, () => {
      if (why === undefined) expect(whyNotInLab(surroundings)).to.equal(undefined);
      else expect(whyNotInLab(surroundings)).to.include(why);
    });
  }
});

describe('test/lab/kernel-state', () => {
  it('sorts the lines of a text', () => {
    expect(sortedLines('-A -u 10.96.0.53:53 -s rr\n-A -t 10.96.0.10:80 -s rr\n')).to.deep.equal([
      '-A -t 10.96.0.10:80 -s rr',
      '-A -u 10.96.0.53:53 -s rr',
    ]);
  });

  it('reads addresses of both families, without link-local ones', () => {
    const text = `5: kube-ipvs0    inet 10.96.0.53/32 scope global kube-ipvs0\\       valid_lft forever preferred_lft forever
5: kube-ipvs0    inet 10.96.0.10/32 scope global kube-ipvs0\\       valid_lft forever preferred_lft forever
5: kube-ipvs0    inet6 fd00:96::10/128 scope global \\       valid_lft forever preferred_lft forever
5: kube-ipvs0    inet6 fe80::4c1b:e8ff:fe8c:ebb1/64 scope link \\       valid_lft forever preferred_lft forever
`;
    expect(parseAddresses(text)).to.deep.equal(['10.96.0.10/32', '10.96.0.53/32', 'fd00:96::10/128']);
  });

  it('reads sets with and without entries', () => {
    const text = `create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x1
add KUBE-CLUSTER-IP 10.96.0.11,tcp:80
add KUBE-CLUSTER-IP 10.96.0.10,tcp:80
create KUBE-NODE-PORT-TCP bitmap:port range 0-65535
`;
    expect(parseSets(text)).to.deep.equal(
      new Map([
        ['KUBE-CLUSTER-IP', ['10.96.0.10,tcp:80', '10.96.0.11,tcp:80']],
        ['KUBE-NODE-PORT-TCP', []],
      ]),
    );
  });

  it('takes dates and counters out of rules', () => {
    const text =
      '# Generated by iptables-save v1.8.9 on Sat\n*nat\n:INPUT ACCEPT [12:720]\nCOMMIT\n# Completed on Sat\n';
    expect(cleanRules(text)).to.equal('*nat\n:INPUT ACCEPT [0:0]\nCOMMIT\n');
  });
});

describe('test/lab/traffic', () => {
  const replies = {
    answers: new Map([
      ['a1 10.0.0.1', 2],
      ['a1 10.0.0.2', 1],
      ['b1 10.0.0.1', 3],
    ]),
    troubles: new Map(),
  };

  it('counts answers by server and by peer', () => {
    expect(countByServer(replies)).to.deep.equal(
      new Map([
        ['a1', 3],
        ['b1', 3],
      ]),
    );
    expect(countByPeer(replies)).to.deep.equal(
      new Map([
        ['10.0.0.1', 5],
        ['10.0.0.2', 1],
      ]),
    );
  });
});

describe('test/lab/wait-for', () => {
  it('returns the first value that is accepted', async () => {
    let looks = 0;
    const seen = await waitFor(
      'a third look',
      () => ++looks,
      (value) => value === 3,
      { everyMs: 1 },
    );
    expect(seen).to.equal(3);
  });

  it('tells what it saw last when the time is over', async () => {
    const limits = { timeoutMs: 5, everyMs: 1 };
    const failure = await waitFor(
      'two endpoints',
      () => ['a1'],
      (value) => value.length === 2,
      limits,
    ).catch(String);
    expect(failure).to.equal("Error: two endpoints: not within 5 ms, last seen: [ 'a1' ]");
  });

  it('tells the error of a reader that throws', async () => {
    const read = () => {
      throw new Error('no such set');
    };
    const failure = await waitFor('the set', read, () => true, { timeoutMs: 5, everyMs: 1 }).catch(String);
    expect(failure).to.include('the set: not within 5 ms, last seen: Error: no such set');
  });
});
