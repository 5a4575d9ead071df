import { expect } from 'chai';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import type { ObservedState } from '../kernel/state.ts';
import { FAMILIES, type Family } from '../net/family.ts';
import { describeReadError, observedOf, type Readings, readInterfaces, readKernel } from './read-kernel.ts';
import type { Tool } from './tool.ts';

describe('apply/read-kernel', () => {
  let kernel: MemoryKernel;

  beforeEach(() => {
    kernel = memoryKernel({
      lo: ['127.0.0.1/8'],
      eth0: ['192.168.0.10/24'],
      'kube-ipvs0': ['172.20.1.1/32', 'fd00::1/128'],
    });
    kernel.ipvs.restore('-A -t 172.20.1.1:80 -s rr\n-A -t [fd00::1]:80 -s rr -p 600\n');
    kernel.ipsets.restore(
      'create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\nadd KUBE-IPVS-IPS 172.20.1.1\n',
    );
    kernel.tables.IPv4.restore('*nat\n:KUBE-SERVICES - [0:0]\n-A KUBE-SERVICES -j ACCEPT\nCOMMIT\n');
  });

  async function readings(): Promise<Readings> {
    const read = await readKernel(kernel, FAMILIES, undefined);
    if (!read.ok) throw new Error(describeReadError(read.error));
    return read.value;
  }

  function partOf(all: Readings, family: Family): ObservedState {
    const part = observedOf(all, family);
    if (!part.ok) throw new Error(describeReadError(part.error));
    return part.value;
  }

  it('reads virtual servers, sets, interfaces and rules, and divides them by family', async () => {
    const all = await readings();
    const families = FAMILIES.map((family) => partOf(all, family));
    expect(families.map((observed) => observed && [...observed.ipvs.keys()])).to.deep.equal([
      ['TCP 172.20.1.1:80'],
      ['TCP [fd00::1]:80'],
    ]);
    expect(families.map((observed) => observed && [...observed.dummy.addresses])).to.deep.equal([
      ['172.20.1.1'],
      ['fd00::1'],
    ]);
    expect(families.map((observed) => observed?.sets.size)).to.deep.equal([1, 1]);
    expect(families.map((observed) => observed?.tables.nat.get('KUBE-SERVICES'))).to.deep.equal([
      ['-j ACCEPT'],
      undefined,
    ]);
    expect([...(all.interfaces.get('eth0') ?? [])]).to.deep.equal([{ address: '192.168.0.10', prefixLength: 24 }]);
  });

  it('asks only the tools of the families that are programmed, and feeds none of them', async () => {
    const read = await readKernel(kernel, ['IPv6'], undefined);
    expect(kernel.calls.map(({ tool }) => tool)).to.have.members(['ipvsadm', 'ipset', 'ip', 'ip6tables-save']);
    expect(kernel.calls.every(({ input }) => input === undefined)).to.equal(true);
    expect(read.ok && observedOf(read.value, 'IPv4')).to.deep.equal({
      ok: false,
      error: { kind: 'family-not-read', family: 'IPv4' },
    });
  });

  for (const [tool, family] of [
    ['iptables-save', 'IPv4'],
    ['ip6tables-save', 'IPv6'],
  ] as const) {
    it(`has no ${family} when ${tool} fails, and the other family all the same`, async () => {
      kernel.missing.add(tool);
      const all = await readings();
      const read = FAMILIES.map((each) => observedOf(all, each)).map((part) =>
        part.ok ? part.value.family : part.error,
      );
      expect(read).to.deep.equal(FAMILIES.map((each) => (each === family ? { kind: 'tool-missing', tool } : each)));
    });
  }

  for (const tool of ['ipvsadm', 'ipset', 'ip']) {
    it(`fails when ${tool} does`, async () => {
      kernel.missing.add(tool);
      expect(await readKernel(kernel, FAMILIES, undefined)).to.deep.equal({
        ok: false,
        error: { kind: 'tool-missing', tool },
      });
    });
  }

  const strange: readonly (readonly [Tool, string])[] = [
    ['ipvsadm', 'ipvsadm -Ln'],
    ['ipset', 'ipset save'],
    ['ip', 'ip -json address show'],
  ];
  for (const [tool, command] of strange) {
    it(`fails rather than to guess when ${command} prints something else`, async () => {
      const run = kernel.runTool;
      const stdout = 'a\nb\nc\nsurprise\n';
      kernel.runTool = async (call) => (call.tool === tool ? { ok: true, value: { stdout, stderr: '' } } : run(call));
      const read = await readKernel(kernel, FAMILIES, undefined);
      expect(!read.ok && describeReadError(read.error)).to.equal(
        `${command} printed something that is not understood; nothing was changed`,
      );
    });
  }

  it('reads interfaces alone', async () => {
    const read = await readInterfaces(kernel);
    expect(read.ok && [...read.value.keys()]).to.deep.equal(['lo', 'eth0', 'kube-ipvs0']);
    expect(kernel.calls.map(({ tool }) => tool)).to.deep.equal(['ip']);
  });

  it('knows the dummy interface only once it is there', async () => {
    const fresh = memoryKernel({ eth0: ['192.168.0.10/24'] });
    const read = await readKernel(fresh, ['IPv4'], undefined);
    const observed = read.ok ? partOf(read.value, 'IPv4') : undefined;
    expect(observed?.dummy).to.deep.equal({ exists: false, addresses: new Set() });
  });
});
