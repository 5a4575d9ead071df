import { expect } from 'chai';
import { stringify } from 'yaml';
import { startingHost } from '../test/config/starting-host.ts';
import type { DiffArguments } from './cli/arguments.ts';
import { diffNode } from './diff-node.ts';

describe('diff-node', () => {
  const cart = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'cart' },
    spec: { clusterIP: '172.20.1.1', type: 'NodePort', ports: [{ name: 'http', port: 80, nodePort: 30080 }] },
  };
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-a' },
    status: { addresses: [{ type: 'InternalIP', address: '192.168.0.99' }] },
  };

  async function diff(host = startingHost(), given: Partial<DiffArguments> = {}, input = textOf(cart, node)) {
    const messages: string[] = [];
    let output = '';
    const exitCode = await diffNode(
      { flags: {}, files: ['-'], node: undefined, nodeAddresses: [], form: 'ipvs', ...given },
      '1.2.3',
      {
        output: async (text) => {
          output += text;
        },
        error: (line) => messages.push(line),
        input: async () => input,
      },
      host,
    );
    return { output, messages, exitCode };
  }

  function textOf(...objects: readonly object[]): string {
    return objects.map((object) => stringify(object)).join('---\n');
  }

  it('serves node ports on the addresses of this machine, and ends with status 3', async () => {
    expect(await diff()).to.deep.equal({
      output: '-A -t 172.20.1.1:80 -s rr\n-A -t 192.168.0.10:30080 -s rr\n',
      messages: [],
      exitCode: 3,
    });
  });

  it('takes the addresses that are given instead', async () => {
    const { output } = await diff(startingHost(), { nodeAddresses: ['eth0=192.168.0.77/24'] });
    expect(output).to.include('-A -t 192.168.0.77:30080 -s rr\n');
  });

  it('makes the interface that families share once, and finds settings of the kernel that differ', async () => {
    const host = startingHost();
    host.files.set('/proc/sys/net/ipv4/vs/conntrack', '0\n').set('/proc/sys/net/ipv4/ip_forward', '1\n');
    const { output } = await diff(host, { form: 'script' });
    expect(output.match(/^. interface .*$/gm)).to.deep.equal(['+ interface kube-ipvs0']);
    expect(output.match(/^. setting .*$/gm)).to.deep.equal(['~ setting net.ipv4.vs.conntrack: 0 → 1']);
  });

  it('only asks, whatever it finds', async () => {
    const host = startingHost();
    const { size } = host.files;
    await diff(host, { form: 'json' });
    expect(host.calls.filter(({ input }) => input !== undefined)).to.deep.equal([]);
    expect(host.calls.filter(({ tool }) => tool === 'modprobe')).to.deep.equal([]);
    expect(host.files.size).to.equal(size);
  });

  it('compares the families that the node serves', async () => {
    const host = startingHost();
    host.missing.add('ip6tables');
    const { output } = await diff(host, { form: 'yaml' });
    expect(output).to.match(/^state:\n {2}IPv4:$/m);
    expect(output).to.not.match(/^ {2}IPv6:$/m);
  });

  it('compares nothing with objects of which some cannot be read', async () => {
    const { output, messages, exitCode } = await diff(startingHost(), {}, `${textOf(cart, node)}---\na: b: c\n`);
    expect([output, exitCode]).to.deep.equal(['', 1]);
    expect(messages.at(-1)).to.equal('error: not compared, as some of what should be there could not be read');
  });

  it('ends with status 1 where IPVS is not loaded, which it does not load', async () => {
    expect(await diff(startingHost('a module'))).to.deep.equal({
      output: '',
      messages: ['error: /proc/net/ip_vs: ENOENT; IPVS is not loaded, and nothing is programmed'],
      exitCode: 1,
    });
  });

  it('ends with status 1 where a tool is missing or the cluster is not known', async () => {
    const host = startingHost();
    host.missing.add('ipset');
    expect(await diff(host)).to.deep.equal({
      output: '',
      messages: ["error: ipset is not installed or not on PATH; install Debian's package ipset"],
      exitCode: 1,
    });
    const { messages, exitCode } = await diff(startingHost(), { files: [], flags: { kubeconfig: '/no/such' } });
    expect([messages.length, exitCode]).to.deep.equal([1, 1]);
  });

  it('ends with status 2 for addresses and flags that are wrong', async () => {
    expect((await diff(startingHost(), { nodeAddresses: ['x'] })).exitCode).to.equal(2);
    expect((await diff(startingHost(), { flags: { 'cluster-cidr': 'x' } })).exitCode).to.equal(2);
  });
});
