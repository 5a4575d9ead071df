import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { OutputForm } from '../../src/cli/output.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { diffNode } from '../../src/diff-node.ts';
import { explainService } from '../../src/explain-service.ts';
import type { Daemon } from './daemon.ts';
import { readNodeState } from './kernel-state.ts';
import type { RunResult } from './lab.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { netnsHost } from './netns-host.ts';
import { NAMESPACE } from './objects.ts';
import type { Offer } from './offers.ts';
import { PROGRAM } from './proxier-daemon.ts';
import { POD_PORT } from './standard-plan.ts';

const WEB: Offer = { name: 'web', number: 81, type: 'NodePort', pods: ['a1', 'b1'] };
const FAR: Offer = { name: 'far', number: 82, type: 'ClusterIP', pods: ['b1'] };

const SERVER = 'TCP 10.96.0.81:80';
const [LOCAL, REMOTE] = [`10.180.1.11:${POD_PORT}`, `10.180.2.11:${POD_PORT}`];
const WEB_TCP = `${NAMESPACE}/web:tcp/TCP`;
const FAR_TCP = `${NAMESPACE}/far:tcp/TCP`;

/** What somebody does to things of ours, and to nobody's. */
const BY_HAND = [
  `ipvsadm -e -t 10.96.0.81:80 -r ${LOCAL} -m -w 0`,
  `ipvsadm -d -t 10.96.0.81:80 -r ${REMOTE}`,
  'ipvsadm -a -u 10.96.0.81:80 -r 192.0.2.9:53 -m',
  'ipvsadm -E -t 10.96.0.82:80 -s wlc',
  'ipvsadm -A -t 198.51.100.9:25 -s wlc',
  'ipset del KUBE-CLUSTER-IP 10.96.0.82,tcp:80',
  'ip address del 10.96.0.82/32 dev kube-ipvs0',
  'ip address add 192.0.2.77/32 dev kube-ipvs0',
  'iptables -t nat -F KUBE-MARK-MASQ',
  'sysctl -qw net.ipv4.vs.expire_nodest_conn=0',
];

/** Of `-o json`. */
interface Records {
  readonly scripts: Readonly<Record<'ipvs' | 'ipset' | 'address' | 'iptables', string>>;
  readonly changes: readonly { readonly thing: string }[];
}

describe('test/lab/diff', () => {
  const lone = useLoneNode();
  const kubeconfig = join(mkdtempSync(join(tmpdir(), 'ipvs-proxier-diff-')), 'kubeconfig');
  let daemon: Daemon | undefined;

  const flags = {
    kubeconfig,
    'hostname-override': NODE,
    'cluster-cidr': '10.180.0.0/16,fd00:180::/32',
  };

  /** What a user runs. */
  function run(command: string, ...args: readonly string[]): Promise<RunResult> {
    const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    return lone().lab.run(NODE, process.execPath, [PROGRAM, command, ...args, ...words]);
  }

  /** The same done by this process, where nothing has to start; it cannot write files of the node. */
  async function quickly(command: (terminal: Terminal) => Promise<number>): Promise<RunResult> {
    let [stdout, stderr] = ['', ''];
    const exitCode = await command({
      output: async (text) => {
        stdout += text;
      },
      error: (line) => {
        stderr += `${line}\n`;
      },
      input: async () => '',
    });
    return { stdout, stderr, exitCode };
  }

  function diff(form: OutputForm = 'script'): Promise<RunResult> {
    const args = { flags, files: [], node: undefined, nodeAddresses: [], form };
    return quickly((terminal) => diffNode(args, '1.2.3', terminal, netnsHost(NODE)));
  }

  async function records(): Promise<Records> {
    return JSON.parse((await diff('json')).stdout) as Records;
  }

  function explain(target: string): Promise<RunResult> {
    const args = { flags, target, files: [], node: undefined, nodeAddresses: [], form: 'text' } as const;
    return quickly((terminal) => explainService({ ...args, kernel: 'required' }, '1.2.3', terminal, netnsHost(NODE)));
  }

  async function tool(line: string, input?: string): Promise<void> {
    const [name = '', ...args] = line.split(' ');
    await lone().lab.output(NODE, name, args, input === undefined ? {} : { input });
  }

  async function programmed(): Promise<void> {
    const started = lone().start();
    await lone().said(started, 'node programmed');
    daemon = started;
  }

  before('a daemon has programmed two Services', async () => {
    writeFileSync(kubeconfig, lone().api.kubeconfig());
    lone().write(WEB, FAR);
    await programmed();
  });

  it('finds nothing while the daemon runs, which it needs no lock for', async () => {
    expect(await run('diff')).to.deep.equal({ stdout: '# nothing would change\n', stderr: '', exitCode: 0 });
  });

  it('explains a Service that the kernel has', async () => {
    const { stdout, stderr, exitCode } = await explain('web:tcp');
    expect([stderr, exitCode]).to.deep.equal(['', 0]);
    expect(stdout).to.include(`    ${SERVER}, cluster address (spec.clusterIPs)\n`);
    expect(stdout).to.include(`      real servers: ${LOCAL} weight 1, ${REMOTE} weight 1\n`);
    expect(stdout).to.include(`      + ${LOCAL} on node-a (ready, serving, local): chosen\n`);
    expect(stdout.match(/^ {4}Kernel: .*$/gm)).to.deep.equal(['    Kernel: as wanted', '    Kernel: as wanted']);
  });

  it('names what somebody has changed, with the Service and the reason, and changes none of it', async () => {
    await daemon?.stop();
    for (const line of BY_HAND) await tool(line);
    const before = await readNodeState(lone().lab, NODE);
    const { stdout, stderr, exitCode } = await diff();
    expect([stderr, exitCode]).to.deep.equal(['', 3]);
    expect(stdout.split('\n')).to.deep.equal([
      '# settings of the kernel',
      '~ setting net.ipv4.vs.expire_nodest_conn: 0 → 1',
      '',
      '# sets',
      `+ entry 10.96.0.82,tcp:80 of set KUBE-CLUSTER-IP (${FAR_TCP})`,
      '',
      '# rules, IPv4',
      '+ rule in chain KUBE-MARK-MASQ of table nat: -j MARK --set-xmark 0x4000/0x4000',
      '',
      '# virtual servers and real servers',
      `~ real server ${LOCAL} of ${SERVER} (${WEB_TCP}): weight 0 → 1`,
      `+ real server ${REMOTE} of ${SERVER} (${WEB_TCP})`,
      `~ virtual server TCP 10.96.0.82:80 (${FAR_TCP}): scheduler wlc → rr`,
      `- real server 192.0.2.9:53 of UDP 10.96.0.81:80 (${NAMESPACE}/web:udp/UDP): no endpoint of its Service`,
      '',
      '# addresses',
      `+ address 10.96.0.82 on kube-ipvs0 (${['sctp/SCTP', 'tcp/TCP', 'udp/UDP'].map((port) => `${NAMESPACE}/far:${port}`).join(', ')})`,
      '',
      '# left alone',
      '= virtual server TCP 198.51.100.9:25: foreign',
      '= address 192.0.2.77 on kube-ipvs0: foreign',
      '',
      '# 4 to add, 3 to change, 1 to remove',
      '',
    ]);
    expect(await readNodeState(lone().lab, NODE)).to.deep.equal(before);
  });

  it('says of one Service what the kernel lacks', async () => {
    const { stdout, exitCode } = await explain('10.96.0.81:80/TCP');
    expect(exitCode).to.equal(0);
    expect(stdout.split('    Kernel: ')[1]).to.equal(
      `differs; a pass would do this\n      ~ real server ${LOCAL} of ${SERVER} (${WEB_TCP}): weight 0 → 1\n      + real server ${REMOTE} of ${SERVER} (${WEB_TCP})\n`,
    );
  });

  it('gives the scripts that make it right, each for its tool', async () => {
    const { ipset, iptables, ipvs, address } = (await records()).scripts;
    await tool('ipset -exist restore', ipset);
    await tool('iptables-restore --noflush', iptables);
    await tool('ipvsadm -R', ipvs);
    await tool('ip -batch -', address);
    const { changes } = await records();
    expect(changes.map(({ thing }) => thing)).to.deep.equal(['setting net.ipv4.vs.expire_nodest_conn']);
  });

  it('finds nothing again after a pass, and leaves alone what drains', async () => {
    await tool('ipvsadm -D -t 10.96.0.82:80');
    await programmed();
    await daemon?.stop();
    await tool('ipvsadm -a -t 10.96.0.82:80 -r 192.0.2.10:80 -m -w 0');
    const { stdout, exitCode } = await diff();
    expect(exitCode).to.equal(0);
    expect(stdout.split('\n').slice(1, 2)).to.deep.equal([
      '= real server 192.0.2.10:80 of TCP 10.96.0.82:80: draining, 0 connections left',
    ]);
  });
});
