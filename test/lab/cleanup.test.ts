import { expect } from 'chai';
import { fail } from '../../src/model/result.ts';
import { readNodeState } from './kernel-state.ts';
import type { RunResult } from './lab.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { netnsHost } from './netns-host.ts';
import { clusterAddress, nodePort, type Offer, SERVICE_PORT } from './offers.ts';
import { PROGRAM } from './proxier-daemon.ts';
import { cleanQuickly, QuickNode, resetReady } from './quick-node.ts';
import { addStrangers, expectStrangers } from './strangers.ts';
import type { Target } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const WEB: Offer = { name: 'web', number: 71, type: 'NodePort', pods: ['a1', 'b1'], hasExternalIPs: true };
const FAR: Offer = { name: 'far', number: 72, type: 'ClusterIP', pods: ['b1'] };

const PATIENCE = { timeoutMs: 240_000 };

describe('test/lab/cleanup', () => {
  const lone = useLoneNode();

  /** What a user runs. */
  function clean(...args: readonly string[]): Promise<RunResult> {
    return lone().lab.run(NODE, process.execPath, [PROGRAM, 'cleanup', ...args]);
  }

  async function program(): Promise<void> {
    await new QuickNode(lone().lab, NODE).program(WEB, FAR);
  }

  function state() {
    return readNodeState(lone().lab, NODE);
  }

  async function expectNothing(): Promise<void> {
    const { ipvs, boundAddresses, sets, iptables, ip6tables } = await state();
    expect([ipvs, boundAddresses, [...sets.keys()]]).to.deep.equal([[], undefined, []]);
    expect(`${iptables}${ip6tables}`).to.not.match(/KUBE-/);
  }

  it('R133: removes everything that a daemon made, once it has ended; a second time there is nothing', async () => {
    const { write, start, said } = lone();
    write(WEB, FAR);
    const daemon = start();
    await said(daemon, 'node programmed');
    const before = await state();
    const refused = await clean();
    expect([refused.stdout, refused.exitCode]).to.deep.equal(['', 1]);
    const whose = `run, version \\S+, process ${daemon.pid}`;
    expect(refused.stderr).to.match(
      new RegExp(`^error: another ipvs-proxier programs this node: ${whose}; nothing was removed\n$`),
    );
    expect(await state()).to.deep.equal(before);
    await daemon.stop();
    const servers = before.ipvs.filter((line) => line.startsWith('-A')).length;
    const first = await clean();
    expect([first.stderr, first.exitCode]).to.deep.equal(['', 0]);
    expect(first.stdout).to.match(
      new RegExp(
        `^removed ${servers} virtual servers, 6 addresses, interface kube-ipvs0, 24 chains, 20 rules of other chains, 40 sets\n$`,
      ),
    );
    await expectNothing();
    const second = await clean();
    expect(second).to.deep.equal({ stdout: 'nothing of ipvs mode is left on this node\n', stderr: '', exitCode: 0 });
  });

  it('prints the scripts of a dry run and changes nothing', async () => {
    await program();
    const before = await state();
    const { stdout, messages, exitCode } = await cleanQuickly(NODE, { action: 'dry-run' });
    expect([messages, exitCode]).to.deep.equal([[], 0]);
    expect(stdout.match(/^# .*$/gm)).to.deep.equal([
      '# ipset -exist restore',
      '# ipvsadm -R',
      '# ip -force -batch -',
      '# iptables-restore -w 5 --noflush',
      '# ip6tables-restore -w 5 --noflush',
      '# ipset -exist restore',
    ]);
    expect(stdout).to.include('\n-D -t 10.96.0.71:80\n');
    expect(await state()).to.deep.equal(before);
  });

  it('leaves a node behind on which the same can be programmed again', async () => {
    const once = await state();
    expect((await cleanQuickly(NODE)).exitCode).to.equal(0);
    await program();
    expect(await state()).to.deep.equal(once);
  });

  it('answers or refuses every new connection while it runs', async () => {
    const { traffic, lab } = lone();
    await resetReady(lab, NODE);
    await program();
    // From each Pod once: of packets that have no route any more the kernel tells a sender five times, then once a second.
    const inside = { protocol: 'tcp', address: clusterAddress(FAR, 'IPv4'), port: SERVICE_PORT } as const;
    const outside = { protocol: 'tcp', address: lab.node(NODE).addresses.IPv4, port: nodePort(WEB) } as const;
    const targets: readonly Target[] = [
      { from: 'a1', ...inside },
      { from: 'a2', ...inside },
      { from: 'client', ...outside },
      { from: 'client', ...outside },
    ];
    let isOver = false;
    const outcomes = new Set<string>();
    const ask = async (target: Target) => {
      const { answers, troubles } = await traffic.ask({ ...target, patienceMs: 15_000 });
      for (const outcome of [...answers.keys(), ...troubles.keys()]) outcomes.add(outcome.split(' ')[0] ?? '');
    };
    // With a pause: clients that are refused at once and dial anew leave the clean-up, in the same kernel, hardly any of the processor.
    const asking = targets.map((target) =>
      waitFor(
        'the end of the clean-up',
        () => ask(target),
        () => isOver,
        PATIENCE,
      ),
    );
    const { exitCode } = await cleanQuickly(NODE).finally(() => {
      isOver = true;
    });
    await Promise.all(asking);
    expect(exitCode).to.equal(0);
    expect([...outcomes]).to.include('refused');
    // A connection that is open when its virtual server goes hears nothing more.
    for (const outcome of outcomes) {
      expect(outcome).to.be.oneOf(['a1', 'b1', 'refused', 'reset', 'unreachable', 'closed', 'silent']);
    }
  });

  it('R13: removes addresses that still refuse what comes for a Service that was deleted', async () => {
    const draining = { limitMs: 60_000, ofDeletedServices: false, closingMs: 3_600_000 };
    const quick = new QuickNode(lone().lab, NODE, { draining });
    await quick.program(WEB, FAR);
    const report = await quick.program();
    expect(report.families.map(({ closing }) => closing)).to.deep.equal([3, 3]);
    const { ipvs, boundAddresses } = await state();
    expect([ipvs, boundAddresses?.length]).to.deep.equal([[], 6]);
    expect(await cleanQuickly(NODE)).to.deep.include({ messages: [], exitCode: 0 });
    await expectNothing();
  });

  it('does what it can where the tools of one family are missing, and the rest when they are back', async () => {
    await program();
    const inside = netnsHost(NODE);
    const host: typeof inside = {
      ...inside,
      runTool: async (call) =>
        call.tool.startsWith('ip6tables') ? fail({ kind: 'tool-missing', tool: call.tool }) : inside.runTool(call),
    };
    const { messages, exitCode } = await cleanQuickly(NODE, {}, host);
    expect(exitCode).to.equal(1);
    expect(messages[0]).to.match(/^error: IPv6 rules stay, with their sets: ip6tables-save is not installed /);
    const between = await state();
    expect([between.ipvs, between.boundAddresses]).to.deep.equal([[], undefined]);
    expect(between.iptables).to.not.match(/KUBE-/);
    expect([...between.sets.keys()].filter((name) => !name.startsWith('KUBE-6-'))).to.deep.equal([]);
    expect(await cleanQuickly(NODE)).to.deep.include({ messages: [], exitCode: 0 });
    await expectNothing();
  });

  it('leaves everything of others in place, with what they need of ours, and tells of it', async () => {
    const { lab } = lone();
    await program();
    await addStrangers(lab, NODE);
    for (const attempt of ['first', 'second']) {
      const { stdout, messages, exitCode } = await cleanQuickly(NODE);
      expect([messages, exitCode], attempt).to.deep.equal([[], 0]);
      expect(stdout.split('\n').slice(1, -1), attempt).to.deep.equal([
        'virtual server TCP 198.51.100.9:25 stays: it is not ours',
        'interface kube-ipvs0 stays: others have bound 192.0.2.77 on it',
        ...['IPv4', 'IPv6'].flatMap((family) => [
          `${family} chain KUBE-MARK-MASQ of table nat stays: a rule of chain OTHERS leads to it`,
          `${family} chain KUBE-POSTROUTING of table nat stays: it masquerades what KUBE-MARK-MASQ marks`,
        ]),
        'set KUBE-CLUSTER-IP stays: a rule of IPv4 chain PREROUTING of table mangle names it',
        'set KUBE-NODE-PORT-UDP stays: it is a member of set KUBE-OTHERS',
      ]);
      await expectStrangers(lab, NODE);
      const { ipvs, boundAddresses, sets } = await state();
      expect([ipvs.length, boundAddresses]).to.deep.equal([2, ['192.0.2.77/32']]);
      expect([...sets].map(([name, entries]) => `${name} ${entries.length}`).sort()).to.deep.equal([
        'KUBE-CLUSTER-IP 0',
        'KUBE-NODE-PORT-UDP 0',
        'KUBE-OTHERS 1',
        'OTHERS 1',
      ]);
    }
    await resetReady(lab, NODE);
  });

  describe('of iptables mode', () => {
    const IPTABLES_MODE = `*mangle
:KUBE-PROXY-CANARY - [0:0]
COMMIT
*nat
:KUBE-PROXY-CANARY - [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-SVC-ERIFXISQEP7F7OF4 - [0:0]
:KUBE-SEP-3EFFWFMAFRB7JSKN - [0:0]
:KUBE-SVC-NOT-OF-KUBE-PROXY - [0:0]
-I PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
-A KUBE-SERVICES -d 10.96.0.99/32 -p tcp -m tcp --dport 53 -j KUBE-SVC-ERIFXISQEP7F7OF4
-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS
-A KUBE-SVC-ERIFXISQEP7F7OF4 -j KUBE-SEP-3EFFWFMAFRB7JSKN
-A KUBE-SEP-3EFFWFMAFRB7JSKN -s 10.180.1.11/32 -j KUBE-MARK-MASQ
-A KUBE-SEP-3EFFWFMAFRB7JSKN -p tcp -m tcp -j DNAT --to-destination 10.180.1.11:53
-A KUBE-MARK-MASQ -j MARK --or-mark 0x4000
COMMIT
*filter
:KUBE-PROXY-CANARY - [0:0]
:KUBE-EXTERNAL-SERVICES - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-FORWARD - [0:0]
:KUBE-PROXY-FIREWALL - [0:0]
:KUBE-SERVICES - [0:0]
-I INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes externally-visible service portals" -j KUBE-EXTERNAL-SERVICES
-I INPUT -m comment --comment "kubernetes health check service ports" -j KUBE-NODEPORTS
-I INPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
-I OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes load balancer firewall" -j KUBE-PROXY-FIREWALL
-I OUTPUT -m conntrack --ctstate NEW -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-I FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD
COMMIT
`;

    beforeEach(async () => {
      await resetReady(lone().lab, NODE);
      await lone().lab.output(NODE, 'iptables-restore', ['--noflush'], { input: IPTABLES_MODE });
    });

    it('removes its chains and what leads to them, and no others of such names', async () => {
      const { stdout, messages, exitCode } = await cleanQuickly(NODE, { of: ['iptables'] });
      expect([messages, exitCode]).to.deep.equal([[], 0]);
      expect(stdout).to.equal('removed 14 chains, 9 rules of other chains\n');
      const left = (await state()).iptables.match(/^.*KUBE-.*$/gm);
      expect(left).to.deep.equal([':KUBE-SVC-NOT-OF-KUBE-PROXY - [0:0]']);
      expect((await cleanQuickly(NODE, { of: ['iptables'] })).stdout).to.equal(
        'nothing of iptables mode is left on this node\n',
      );
    });

    it('takes nothing from the daemon, which has taken over the chains of both', async () => {
      await program();
      await cleanQuickly(NODE, { of: ['iptables'] });
      const beside = await state();
      await resetReady(lone().lab, NODE);
      await program();
      const alone = await state();
      const sorted = (rules: string) =>
        rules
          .split('\n')
          .filter((line) => line !== ':KUBE-SVC-NOT-OF-KUBE-PROXY - [0:0]')
          .sort();
      expect(sorted(beside.iptables)).to.deep.equal(sorted(alone.iptables));
      expect([beside.ip6tables, beside.sets]).to.deep.equal([alone.ip6tables, alone.sets]);
    });

    it('is left alone, with the chains that it has taken over, when ipvs mode is cleaned', async () => {
      const { lab } = lone();
      const before = await state();
      await program();
      await lab.output(NODE, 'iptables-restore', ['--noflush'], { input: IPTABLES_MODE.replace(/^-I .*\n/gm, '') });
      const { stdout, exitCode } = await cleanQuickly(NODE);
      expect(exitCode).to.equal(0);
      expect(stdout).to.include('IPv4 chain KUBE-SERVICES of table nat stays: kube-proxy in iptables mode uses it\n');
      const sorted = (rules: string) => [...new Set(rules.split('\n'))].sort();
      const after = await state();
      expect(sorted(after.iptables).filter((line) => !sorted(before.iptables).includes(line))).to.deep.equal([
        '-A FORWARD -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL',
        '-A INPUT -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL',
      ]);
      expect(sorted(before.iptables).filter((line) => !sorted(after.iptables).includes(line))).to.deep.equal([]);
      expect([after.ipvs, after.boundAddresses, [...after.sets.keys()]]).to.deep.equal([[], undefined, []]);
    });
  });
});
