import { expect } from 'chai';
import { memoryKernel } from '../test/kernel/memory-kernel.ts';
import { SteppedClock } from '../test/stepped-clock.ts';
import type { Host } from './apply/host.ts';
import type { lockNode } from './apply/node-lock.ts';
import { cleanNode } from './clean-node.ts';
import type { CleanupArguments } from './cli/arguments.ts';
import { fail, succeed } from './model/result.ts';

describe('clean-node', () => {
  const free: typeof lockNode = async () => succeed({ release: async () => {} });
  const held: typeof lockNode = async () => {
    const holder = { pid: 7, pidNamespace: 'pid:[1]', command: 'run', version: '1.2.3' };
    return fail({ kind: 'lock-held', holder });
  };

  async function clean(args: Partial<CleanupArguments>, host: Host, lock = free) {
    const messages: string[] = [];
    let stdout = '';
    const exitCode = await cleanNode(
      { flags: {}, of: ['ipvs'], action: 'remove', ...args },
      '1.2.3',
      {
        output: async (text) => {
          stdout += text;
        },
        error: (line) => messages.push(line),
        input: async () => '',
      },
      { host, clock: new SteppedClock(), lock },
    );
    return { stdout, messages, exitCode };
  }

  /** A node with an address of ours, and with the filter chain that tells that ipvs mode is there. */
  function node() {
    const kernel = memoryKernel({ eth0: ['192.168.0.10/24'], 'kube-ipvs0': ['172.20.1.1/32'] });
    kernel.ipsets.restore(
      'create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\nadd KUBE-IPVS-IPS 172.20.1.1\n',
    );
    kernel.tables.IPv4.restore(
      '*filter\n:KUBE-IPVS-FILTER - [0:0]\n:KUBE-FORWARD - [0:0]\n:KUBE-NODEPORTS - [0:0]\nCOMMIT\n',
    );
    return kernel;
  }

  it('removes what ipvs mode made, and tells how much', async () => {
    const kernel = node();
    expect(await clean({}, kernel)).to.deep.equal({
      stdout: 'removed 1 address, interface kube-ipvs0, 2 chains, 1 set\n',
      messages: [],
      exitCode: 0,
    });
    expect(kernel.tables.IPv4.save()).to.include(':KUBE-NODEPORTS - [0:0]\n');
  });

  it('removes nothing that another process programs, and can show all the same what it would remove', async () => {
    const kernel = node();
    const refused = await clean({}, kernel, held);
    expect(refused).to.deep.include({ stdout: '', exitCode: 1 });
    expect(refused.messages).to.deep.equal([
      'error: another ipvs-proxier programs this node: run, version 1.2.3, process 7 of PID namespace pid:[1]; nothing was removed',
    ]);
    const shown = await clean({ action: 'dry-run' }, kernel, held);
    expect(shown).to.deep.include({ messages: [], exitCode: 0 });
    expect(shown.stdout).to.equal(`# ip -force -batch -
link delete kube-ipvs0

# iptables-restore -w 5 --noflush
*filter
:KUBE-IPVS-FILTER - [0:0]
:KUBE-FORWARD - [0:0]
-X KUBE-IPVS-FILTER
-X KUBE-FORWARD
COMMIT

# ipset -exist restore
destroy KUBE-IPVS-IPS
`);
    expect(kernel.calls.filter(({ input }) => input !== undefined)).to.deep.equal([]);
  });

  for (const [what, lock] of [
    ['the daemon runs', held],
    ['the daemon has programmed the node', free],
  ] as const) {
    it(`leaves the chains of both modes when iptables mode is removed where ${what}`, async () => {
      const kernel = node();
      expect(await clean({ of: ['iptables'] }, kernel, lock)).to.deep.equal({
        stdout: 'removed 1 chain\nIPv4 chain KUBE-FORWARD of table filter stays: ipvs mode uses it\n',
        messages: [],
        exitCode: 0,
      });
    });
  }

  it('leaves them also where the daemon has just started', async () => {
    const kernel = memoryKernel({});
    kernel.tables.IPv4.restore('*filter\n:KUBE-FORWARD - [0:0]\nCOMMIT\n');
    expect((await clean({ of: ['iptables'] }, kernel, held)).stdout).to.match(/^nothing of iptables mode is left/);
    expect((await clean({ of: ['iptables'] }, kernel, free)).stdout).to.equal('removed 1 chain\n');
  });

  it('deletes the tables of nftables mode, and no others', async () => {
    let tables = 'table ip filter\ntable ip kube-proxy\ntable ip6 kube-proxy\n';
    const scripts: string[] = [];
    const host: Host = {
      ...memoryKernel({}),
      runTool: async ({ args, input }) => {
        if (args[0] === 'list') return succeed({ stdout: tables, stderr: '' });
        scripts.push(input ?? '');
        tables = 'table ip filter\n';
        return succeed({ stdout: '', stderr: '' });
      },
    };
    expect(await clean({ of: ['nftables'] }, host)).to.deep.equal({
      stdout: 'removed 2 tables\n',
      messages: [],
      exitCode: 0,
    });
    expect(scripts).to.deep.equal(['delete table ip kube-proxy\ndelete table ip6 kube-proxy\n']);
    expect((await clean({ of: ['nftables'] }, host)).stdout).to.equal(
      'nothing of nftables mode is left on this node\n',
    );
  });

  it('removes of several modes what it can, and ends with the worst status', async () => {
    const kernel = node();
    kernel.missing.add('nft');
    const { stdout, messages, exitCode } = await clean({ of: ['ipvs', 'nftables'] }, kernel);
    expect(exitCode).to.equal(1);
    expect(stdout).to.match(/^removed 1 address, .*\nnothing was removed\n$/);
    expect(messages).to.deep.equal(["error: nft is not installed or not on PATH; install Debian's package nftables"]);
  });

  it('leaves virtual servers inside excludeCIDRs, and the one that tried the scheduler goes', async () => {
    const kernel = node();
    kernel.ipvs.restore('-A -t 172.20.1.1:80 -s rr\n-A -t 172.21.1.1:80 -s rr\n-A -t 198.51.100.0:20000 -s rr\n');
    kernel.files.set('/proc/net/ip_vs', '');
    const { stdout, exitCode } = await clean({ flags: { 'ipvs-exclude-cidrs': '172.20.0.0/16' } }, kernel);
    expect(exitCode).to.equal(0);
    expect(stdout.split('\n').slice(0, 3)).to.deep.equal([
      'removed 1 virtual server, 1 address, interface kube-ipvs0, 2 chains, 1 set',
      'virtual server TCP 172.20.1.1:80 stays: it is inside excludeCIDRs',
      'virtual server TCP 172.21.1.1:80 stays: it is not ours',
    ]);
  });

  it('touches nothing where the configuration is wrong', async () => {
    const kernel = node();
    const { messages, exitCode } = await clean({ flags: { 'ipvs-exclude-cidrs': 'x' } }, kernel);
    expect([messages.length, exitCode, kernel.calls]).to.deep.equal([1, 2, []]);
  });
});
