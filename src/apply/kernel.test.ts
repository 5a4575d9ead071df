import { expect } from 'chai';
import { ipvs, observedState, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import { type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import { fail } from '../model/result.ts';
import { FAMILIES, type Family } from '../net/family.ts';
import type { Host } from './host.ts';
import { Kernel } from './kernel.ts';

describe('apply/kernel', () => {
  let memory: MemoryKernel;
  let nowMs: number;
  let kernel: Kernel;

  beforeEach(() => {
    memory = memoryKernel({ eth0: ['192.168.0.10/24'] });
    memory.ipvs.restore('-A -t 172.20.1.1:80 -s rr\n-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1\n');
    nowMs = 0;
    kernel = new Kernel(memory, FAMILIES, () => nowMs);
  });

  const started = () => memory.calls.splice(0).map(({ tool }) => tool);

  it('reads everything anew when refreshed, and gives the interfaces', async () => {
    const read = await kernel.refresh();
    expect(read.ok && [...read.value.keys()]).to.deep.equal(['eth0']);
    expect(started()).to.have.members(['ipvsadm', 'ipset', 'ip', 'iptables-save', 'ip6tables-save']);
    memory.addresses.put('eth1', '192.168.1.10/24');
    const again = await kernel.refresh();
    expect(again.ok && [...again.value.keys()]).to.deep.equal(['eth0', 'eth1']);
  });

  it('knows nothing before it has read, and then what it has read, until it reads again', async () => {
    expect(kernel.known('IPv4').ok).to.equal(false);
    await kernel.refresh();
    memory.ipsets.restore('create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\n');
    started();
    expect(setsOf('IPv4')).to.deep.equal([]);
    expect(started()).to.deep.equal([]);
    await kernel.refresh(['IPv4']);
    expect([setsOf('IPv4'), setsOf('IPv6')]).to.deep.equal([['KUBE-IPVS-IPS'], []]);
  });

  function setsOf(family: Family): readonly string[] {
    const known = kernel.known(family);
    return known.ok ? [...known.value.sets.keys()] : [known.error.message];
  }

  it('has a line after the one that was refused carried out where it is told to go on', async () => {
    const text = 'create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\nadd KUBE-LOST 10.0.0.1\n';
    const script = { tool: 'ipset', text: `${text}add KUBE-IPVS-IPS 10.0.0.2\n` } as const;
    const stopped = await kernel.run(['IPv4'], [{ ...script, goesOn: true }]);
    expect(stopped.ok).to.equal(true);
    expect(memory.calls.splice(0).map(({ args }) => args)).to.deep.equal([['-exist', '-']]);
    await kernel.refresh(['IPv4']);
    const known = kernel.known('IPv4');
    expect(known.ok && [...(known.value.sets.get('KUBE-IPVS-IPS')?.entries ?? [])]).to.deep.equal(['10.0.0.2']);
  });

  it('reads virtual servers where it cannot read all, tells why, and knows no more than before', async () => {
    memory.missing.add('ipset');
    expect((await kernel.refresh()).ok).to.equal(false);
    expect(setsOf('IPv4')).to.deep.equal(["ipset is not installed or not on PATH; install Debian's package ipset"]);
    const servers = await kernel.readServers('IPv4');
    expect(servers.ok && [...servers.value.keys()]).to.deep.equal(['TCP 172.20.1.1:80']);
    const other = await kernel.readServers('IPv6');
    expect(other.ok && other.value.size).to.equal(0);
    expect(kernel.known('IPv4').ok).to.equal(false);
    memory.missing.add('ipvsadm');
    expect((await kernel.readServers('IPv4')).ok).to.equal(false);
  });

  it('knows a family as it was settled, the other one as before', async () => {
    await kernel.refresh();
    const read = kernel.known('IPv4');
    if (!read.ok) throw new Error(read.error.message);
    const after = { ...read.value, sets: setsWith('IPv4'), dummy: { exists: true, addresses: new Set<never>() } };
    kernel.settle(after, 'everything');
    const known = kernel.known('IPv4');
    expect(known.ok && [known.value.sets.size, known.value.dummy.exists]).to.deep.equal([20, true]);
    expect(setsOf('IPv6')).to.deep.equal([]);
  });

  it('takes over the named part alone of what has become of a family', async () => {
    await kernel.refresh();
    const [address, entry] = [ip('172.20.1.7'), '172.20.1.7' as SetEntry];
    const [known, unnamed] = [server([], { address }), server([], { address: ip('172.20.1.8') })];
    const scope = {
      servers: new Set([virtualServerKey(known), 'TCP 172.20.1.1:80' as VirtualServerKey]),
      addresses: new Set([address]),
      entries: new Set([entry]),
      rules: false,
    };
    const after = observedState({
      ipvs: ipvs(known, unnamed),
      sets: setsWith('IPv4', { 'IPVS-IPS': [entry, '172.20.1.8'] }),
      dummy: { exists: true, addresses: new Set([address, ip('172.20.1.8')]) },
    });
    kernel.settle(observedState({ sets: setsWith('IPv4', { 'IPVS-IPS': ['10.0.0.1'] }) }), 'everything');
    kernel.settle(after, scope);
    const state = kernel.known('IPv4');
    expect(
      state.ok && [
        [...state.value.ipvs.keys()],
        [...state.value.dummy.addresses],
        [...(state.value.sets.get('KUBE-IPVS-IPS')?.entries ?? [])],
      ],
    ).to.deep.equal([['TCP 172.20.1.7:80'], ['172.20.1.7'], ['10.0.0.1', '172.20.1.7']]);
  });

  describe('counting connections', () => {
    const frontend = 'TCP 172.20.1.1:80' as VirtualServerKey;
    const connections = () => {
      const known = kernel.known('IPv4');
      const reals = known.ok ? known.value.ipvs.get(frontend)?.realServers : undefined;
      return reals?.map((each) => each.connections);
    };

    beforeEach(async () => {
      await kernel.refresh();
      started();
      memory.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 7);
    });

    it('reads the file where there are few virtual servers', async () => {
      expect((await kernel.countConnections('IPv4', [frontend])).ok).to.equal(true);
      expect([connections(), started()]).to.deep.equal([[7], []]);
    });

    it('asks for one virtual server that the file skips, or that is one among many', async () => {
      memory.skippedInProc.add('-t 172.20.1.1:80');
      expect((await kernel.countConnections('IPv4', [frontend])).ok).to.equal(true);
      expect([connections(), started()]).to.deep.equal([[7], ['ipvsadm']]);
      memory.skippedInProc.clear();
      const many = Array.from({ length: 300 }, (_, index) => `-A -t 172.20.2.${index % 250}:${80 + index} -s rr\n`);
      memory.ipvs.restore(many.join(''));
      await kernel.refresh();
      started();
      expect((await kernel.countConnections('IPv4', [frontend])).ok).to.equal(true);
      expect([connections(), started()]).to.deep.equal([[7], ['ipvsadm']]);
    });

    it('lists all at once where the file skips more than a few', async () => {
      const keys = [2, 3, 4].map((last) => `-t 172.20.1.${last}:80`);
      memory.ipvs.restore(keys.map((key) => `-A ${key} -s rr\n-a ${key} -r 10.180.0.1:8080 -m -w 1\n`).join(''));
      await kernel.refresh();
      for (const key of keys) memory.skippedInProc.add(key);
      started();
      const asked = [2, 3, 4].map((last) => `TCP 172.20.1.${last}:80` as VirtualServerKey);
      expect((await kernel.countConnections('IPv4', asked)).ok).to.equal(true);
      expect(memory.calls.splice(0).map(({ args }) => args.join(' '))).to.deep.equal(['-Ln']);
    });

    for (const [what, script] of [
      ['a virtual server', '-D -t 172.20.1.1:80\n'],
      ['a real server', '-d -t 172.20.1.1:80 -r 10.180.0.1:8080\n'],
    ] as const) {
      it(`forgets the family when somebody has taken away ${what}`, async () => {
        memory.ipvs.restore(script);
        expect((await kernel.countConnections('IPv4', [frontend])).ok).to.equal(false);
        expect(kernel.known('IPv4').ok).to.equal(false);
        expect(kernel.known('IPv6').ok).to.equal(true);
      });
    }

    it('asks nobody for nothing', async () => {
      expect((await kernel.countConnections('IPv4', [])).ok).to.equal(true);
      expect(started()).to.deep.equal([]);
    });
  });

  it('makes the interface for both families', async () => {
    await kernel.refresh();
    expect((await kernel.createInterface()).ok).to.equal(true);
    for (const family of FAMILIES) {
      const known = kernel.known(family);
      expect(known.ok && known.value.dummy.exists).to.equal(true);
    }
    expect((await kernel.refresh()).ok).to.equal(true);
  });

  it('has nothing for a family that is not programmed', async () => {
    const single = new Kernel(memory, ['IPv4'], () => 0);
    await single.refresh();
    expect(single.known('IPv6')).to.deep.equal({
      ok: false,
      error: { during: 'reading the kernel', message: 'what the kernel holds of IPv6 is not known' },
    });
  });

  it('says what could not be read', async () => {
    memory.missing.add('ipset');
    const wanted = {
      ok: false,
      error: {
        during: 'reading the kernel',
        message: "ipset is not installed or not on PATH; install Debian's package ipset",
      },
    };
    expect(await kernel.refresh()).to.deep.equal(wanted);
    expect(kernel.known('IPv4').ok).to.equal(false);
  });

  const script = 'create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\n';
  const rules = '*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n';

  it('runs scripts one after the other, each with its tool, and times them', async () => {
    const run = memory.runTool;
    memory.runTool = (call) => {
      nowMs += 5;
      return run(call);
    };
    const ran = await kernel.run(FAMILIES, [
      { tool: 'ipset', text: script },
      { tool: 'iptables', text: rules },
      { tool: 'ip6tables', text: rules },
      { tool: 'ipvs', text: '-D -t 172.20.1.1:80\n' },
      { tool: 'address', text: 'link add kube-ipvs0 type dummy\n' },
    ]);
    expect(ran.ok && ran.value.map(({ tool, lines, tookMs }) => `${tool} ${lines} ${tookMs}`)).to.deep.equal([
      'ipset 1 5',
      'iptables 3 5',
      'ip6tables 3 5',
      'ipvs 1 5',
      'address 1 5',
    ]);
    expect(memory.calls.map(({ tool, args }) => [tool, ...args].join(' '))).to.deep.equal([
      'ipset -exist restore',
      'iptables-restore -w 5 --noflush',
      'ip6tables-restore -w 5 --noflush',
      'ipvsadm -R',
      'ip -force -batch -',
    ]);
  });

  it('gives a tool more time for more lines', async () => {
    await kernel.run(FAMILIES, [{ tool: 'ipset', text: script }]);
    await kernel.run(FAMILIES, [{ tool: 'ipset', text: 'add KUBE-IPVS-IPS 10.0.0.1\nadd KUBE-IPVS-IPS 10.0.0.2\n' }]);
    const [one, two] = memory.calls.map(({ timeoutMs }) => timeoutMs);
    expect(two).to.be.greaterThan(one ?? 0);
    expect(one).to.be.at.least(30_000);
  });

  it('stops at the first script that fails, says which, and forgets what it knew of the families', async () => {
    await kernel.refresh();
    started();
    const ran = await kernel.run(FAMILIES, [
      { tool: 'ipset', text: 'add KUBE-CLUSTER-IP 172.20.1.1,6:80\n' },
      { tool: 'ipvs', text: '-D -t 172.20.1.1:80\n' },
    ]);
    expect(!ran.ok && ran.error.during).to.equal('programming ipset');
    expect(!ran.ok && ran.error.message).to.match(/^ipset failed with status 1: .*does not exist/);
    expect(started()).to.deep.equal(['ipset']);
    expect(memory.ipvs.save()).to.include('172.20.1.1:80');
    expect(FAMILIES.map((family) => kernel.known(family).ok)).to.deep.equal([false, false]);
  });

  it('takes a word of ipvsadm on stderr for a failure', async () => {
    const ran = await kernel.run(FAMILIES, [{ tool: 'ipvs', text: '-D -t 172.20.1.9:80\n-D -t 172.20.1.1:80\n' }]);
    expect(!ran.ok && ran.error.message).to.include('No such service');
  });

  for (const tool of ['ipvs', 'address', 'ipset'] as const) {
    it(`takes no line for refused when the tool of ${tool} was killed or could not be started`, async () => {
      const stderr = 'ipset v7.17: Error in line 1: ended by SIGKILL';
      const killing: Host = {
        ...memory,
        runTool: async (call) =>
          fail({ kind: 'tool-refused', tool: call.tool, exitCode: -1, stderr, script: call.input ?? '' }),
      };
      const ran = await new Kernel(killing, FAMILIES, () => 0).run(FAMILIES, [{ tool, text: 'a line\n' }]);
      expect(!ran.ok && ran.error.message).to.include('SIGKILL');
      expect(!ran.ok && ran.error.refusedBy).to.equal(undefined);
    });
  }

  it('does nothing for no scripts', async () => {
    expect(await kernel.run(FAMILIES, [])).to.deep.equal({ ok: true, value: [] });
    expect(memory.calls).to.deep.equal([]);
  });
});
