import { expect } from 'chai';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { FAMILIES } from '../net/family.ts';
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

  it('reads everything by itself when nothing is known yet, and only virtual servers afterwards, without a process', async () => {
    await kernel.read('IPv4');
    expect(started()).to.have.lengthOf(5);
    memory.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 7);
    memory.ipsets.restore('create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\n');
    const read = await kernel.read('IPv4');
    const [server] = read.ok ? read.value.ipvs.values() : [];
    expect([...(server?.realServers.values() ?? [])].map(({ connections }) => connections)).to.deep.equal([7]);
    expect(read.ok && read.value.sets.size).to.equal(0);
    expect(started()).to.deep.equal([]);
  });

  it('knows a family as it was settled', async () => {
    const read = await kernel.read('IPv4');
    if (!read.ok) throw new Error(read.error.message);
    const set = {
      name: 'x',
      type: 'hash:ip',
      family: 'IPv4',
      maxEntries: 1,
      oddities: [],
      entries: new Set<never>(),
    } as const;
    kernel.settle({ ...read.value, sets: new Map([['x', set]]), dummy: { exists: true, addresses: new Set() } });
    const after = await kernel.read('IPv4');
    expect(after.ok && [[...after.value.sets.keys()], after.value.dummy.exists]).to.deep.equal([['x'], true]);
  });

  it('has nothing for a family that is not programmed', async () => {
    const single = new Kernel(memory, ['IPv4'], () => 0);
    expect(await single.read('IPv6')).to.deep.equal({
      ok: false,
      error: { during: 'reading the kernel', message: 'IPv6 is not programmed on this node' },
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
    expect(await kernel.read('IPv4')).to.deep.equal(wanted);
  });

  const script = 'create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\n';
  const rules = '*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n';

  it('runs scripts one after the other, each with its tool, and times them', async () => {
    const run = memory.runTool;
    memory.runTool = (call) => {
      nowMs += 5;
      return run(call);
    };
    const ran = await kernel.run([
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
    await kernel.run([{ tool: 'ipset', text: script }]);
    await kernel.run([{ tool: 'ipset', text: 'add KUBE-IPVS-IPS 10.0.0.1\nadd KUBE-IPVS-IPS 10.0.0.2\n' }]);
    const [one, two] = memory.calls.map(({ timeoutMs }) => timeoutMs);
    expect(two).to.be.greaterThan(one ?? 0);
    expect(one).to.be.at.least(30_000);
  });

  it('stops at the first script that fails, says which, and forgets what it knew', async () => {
    await kernel.refresh();
    started();
    const ran = await kernel.run([
      { tool: 'ipset', text: 'add KUBE-CLUSTER-IP 172.20.1.1,6:80\n' },
      { tool: 'ipvs', text: '-D -t 172.20.1.1:80\n' },
    ]);
    expect(!ran.ok && ran.error.during).to.equal('programming ipset');
    expect(!ran.ok && ran.error.message).to.match(/^ipset failed with status 1: .*does not exist/);
    expect(started()).to.deep.equal(['ipset']);
    expect(memory.ipvs.save()).to.include('172.20.1.1:80');
    await kernel.read('IPv4');
    expect(started()).to.have.lengthOf(5);
  });

  it('takes a word of ipvsadm on stderr for a failure', async () => {
    const ran = await kernel.run([{ tool: 'ipvs', text: '-D -t 172.20.1.9:80\n-D -t 172.20.1.1:80\n' }]);
    expect(!ran.ok && ran.error.message).to.include('No such service');
  });

  it('does nothing for no scripts', async () => {
    expect(await kernel.run([])).to.deep.equal({ ok: true, value: [] });
    expect(memory.calls).to.deep.equal([]);
  });
});
