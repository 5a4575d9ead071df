import { expect } from 'chai';
import { conntrackLimits } from '../../test/builders/conntrack-limits.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { examineNode, type IpvsTimeouts, type NodeSettings, prepareNode } from './prepare-node.ts';
import type { ToolCall, ToolError } from './tool.ts';

describe('apply/prepare-node', () => {
  let host: MemoryKernel;
  /** What a tool prints, by its command line; `undefined` when it refuses. */
  let answers: Map<string, string | undefined>;

  beforeEach(() => {
    host = memoryKernel({});
    host.files.set('/proc/sys/kernel/osrelease', '6.1.0-18-amd64\n');
    host.files.set('/proc/net/if_inet6', '');
    answers = new Map([
      ['iptables --version', 'iptables v1.8.9 (nf_tables)\n'],
      ['ip6tables --version', 'ip6tables v1.8.9 (nf_tables)\n'],
      ['ipvsadm --version', 'ipvsadm v1.31\n'],
      ['ipset --version', 'ipset v7.17\n'],
      ['ip -Version', 'ip utility\n'],
      ['conntrack --version', 'conntrack v1.4.7 (conntrack-tools)\n'],
    ]);
    host.runTool = async (call) => {
      host.calls.push(call);
      const { tool, args } = call;
      if (host.missing.has(tool)) return { ok: false, error: { kind: 'tool-missing', tool } };
      const stdout = answers.get([tool, ...args].join(' '));
      return stdout === undefined ? { ok: false, error: refusal(call) } : { ok: true, value: { stdout, stderr: '' } };
    };
  });

  const refusal = ({ tool }: ToolCall): ToolError => ({
    kind: 'tool-refused',
    tool,
    exitCode: 1,
    stderr: 'no\n',
    script: '',
  });

  describe('examination', () => {
    it('finds both families, what iptables knows, and the release of the kernel', async () => {
      expect(await examineNode(host)).to.deep.equal({
        ok: true,
        value: { families: ['IPv4', 'IPv6'], randomFully: true, kernelRelease: '6.1.0-18-amd64' },
      });
    });

    it('names every missing tool at once', async () => {
      for (const tool of ['ipvsadm', 'ipset', 'ip', 'iptables', 'ip6tables']) host.missing.add(tool);
      const examined = await examineNode(host);
      expect(!examined.ok && examined.error.map((line) => line.split(' ')[0])).to.deep.equal([
        'ipvsadm',
        'ipset',
        'ip',
        'iptables',
      ]);
    });

    it('lets tools be that are there and do not like the question', async () => {
      for (const question of ['ipvsadm --version', 'ipset --version', 'ip -Version']) answers.delete(question);
      expect((await examineNode(host)).ok).to.equal(true);
    });

    const ipsets: readonly (readonly [printed: string, trouble: string | undefined])[] = [
      ['ipset v7.17, protocol version: 7', undefined],
      ['ipset v6.0, protocol version: 6', undefined],
      ['ipset v10.1, protocol version: 7', undefined],
      ['ipset v5.4, protocol version: 5', 'ipset 5.4 is too old; 6.0 or later is needed'],
      ['ipset v4.5, protocol version 4.', 'ipset 4.5 is too old; 6.0 or later is needed'],
      ['ipset', 'ipset --version tells no version; 6.0 or later is needed'],
    ];
    for (const [printed, trouble] of ipsets) {
      it(`${trouble === undefined ? 'is content with' : 'stops at'} "${printed}"`, async () => {
        answers.set('ipset --version', `${printed}\n`);
        const examined = await examineNode(host);
        expect(examined.ok ? undefined : examined.error).to.deep.equal(trouble && [trouble]);
      });
    }

    it('reads the version of an ipset that may not ask the kernel', async () => {
      const { runTool } = host;
      const stderr = 'ipset v5.1: Kernel error received: Operation not permitted\n';
      host.runTool = async (call) =>
        call.tool === 'ipset' ? { ok: false, error: { ...refusal(call), stderr } } : runTool(call);
      expect(await examineNode(host)).to.deep.equal({
        ok: false,
        error: ['ipset 5.1 is too old; 6.0 or later is needed'],
      });
    });

    it('cannot do without the release of the kernel', async () => {
      host.files.delete('/proc/sys/kernel/osrelease');
      expect(await examineNode(host)).to.deep.equal({ ok: false, error: ['/proc/sys/kernel/osrelease: ENOENT'] });
    });

    const single: readonly (readonly [string, () => void, readonly string[]])[] = [
      ['the kernel has no IPv6', () => host.files.delete('/proc/net/if_inet6'), ['IPv4']],
      ['ip6tables is missing', () => host.missing.add('ip6tables'), ['IPv4']],
      ['ip6tables does not work', () => answers.delete('ip6tables --version'), ['IPv4']],
      ['iptables is missing', () => host.missing.add('iptables'), ['IPv6']],
    ];
    for (const [name, spoil, families] of single) {
      it(`leaves ${families.join()} when ${name}`, async () => {
        spoil();
        const examined = await examineNode(host);
        expect(examined.ok && examined.value.families).to.deep.equal(families);
      });
    }

    const versions: readonly (readonly [string, boolean])[] = [
      ['iptables v1.6.1', false],
      ['iptables v1.6.2', true],
      ['iptables v1.4.21', false],
      ['iptables v1.8.7 (legacy)', true],
      ['iptables v2.0.0', true],
      ['iptables', false],
    ];
    for (const [version, randomFully] of versions) {
      it(`expects ${randomFully ? '' : 'no '}random ports of ${version}`, async () => {
        answers.set('iptables --version', `${version}\n`);
        const examined = await examineNode(host);
        expect(examined.ok && examined.value.randomFully).to.equal(randomFully);
      });
    }

    it('changes nothing', async () => {
      const before = new Map(host.files);
      await examineNode(host);
      expect(host.files).to.deep.equal(before);
      expect(host.calls.every(({ input }) => input === undefined)).to.equal(true);
    });
  });

  describe('preparation', () => {
    const asTheyAre: IpvsTimeouts = { tcpTimeoutMs: 0, tcpFinTimeoutMs: 0, udpTimeoutMs: 0 };
    const sysctl = (name: string) => `/proc/sys/net/ipv4/${name}`;
    const standard: NodeSettings = {
      strictArp: false,
      timeouts: asTheyAre,
      choices: {},
      conntrack: conntrackLimits(),
    };
    const prepare = ({ release = '6.1.0', ...given }: Partial<NodeSettings> & { readonly release?: string } = {}) =>
      prepareNode(host, release, { ...standard, ...given });

    /** Settings of the kernel under /proc/sys/net/ipv4. */
    function settings(): Record<string, string> {
      const own = [...host.files].filter(([path]) => path.startsWith(sysctl('')));
      return Object.fromEntries(own.map(([path, value]) => [path.slice(sysctl('').length), value]));
    }

    /** Every tool that was started, with its arguments. */
    function commands(): readonly string[] {
      return host.calls.map(({ tool, args }) => [tool, ...args].join(' '));
    }

    it('writes the settings that differ, and only those', async () => {
      host.files.set(sysctl('vs/conntrack'), '0\n');
      host.files.set(sysctl('vs/expire_nodest_conn'), '1\n');
      host.files.set(sysctl('ip_forward'), '1\n');
      const prepared = await prepare();
      expect(prepared.ok && prepared.value.written.map(({ path }) => path)).to.deep.equal([
        'net/ipv4/vs/conntrack',
        'net/ipv4/vs/expire_quiescent_template',
      ]);
      expect(settings()).to.deep.equal({
        'vs/conntrack': '1',
        'vs/expire_nodest_conn': '1\n',
        ip_forward: '1\n',
        'vs/expire_quiescent_template': '1',
      });
      expect(commands()).to.deep.equal(['conntrack --version']);
    });

    it('also writes those that strict ARP asks for', async () => {
      await prepare({ strictArp: true });
      expect(settings()).to.include({ 'conf/all/arp_ignore': '1', 'conf/all/arp_announce': '2' });
    });

    it('leaves those for ARP alone otherwise', async () => {
      host.files.set(sysctl('conf/all/arp_ignore'), '1');
      await prepare();
      expect(settings()).to.include({ 'conf/all/arp_ignore': '1' }).and.not.have.property('conf/all/arp_announce');
    });

    it('R124: writes the sloppy switches that are given, either way, and leaves those alone that are not', async () => {
      host.files.set(sysctl('vs/sloppy_tcp'), '1\n');
      await prepare({ choices: { sloppyTCP: undefined, sloppySCTP: true } });
      expect(settings()).to.include({ 'vs/sloppy_tcp': '1\n', 'vs/sloppy_sctp': '1' });
      await prepare({ choices: { sloppyTCP: false, sloppySCTP: undefined } });
      expect(settings()).to.include({ 'vs/sloppy_tcp': '0', 'vs/sloppy_sctp': '1' });
    });

    it('stops when required settings cannot be written, and names them all', async () => {
      host.writeText = async (path) => ({ ok: false, error: { kind: 'file-failed', path, code: 'EROFS' } });
      host.files.set(sysctl('vs/expire_nodest_conn'), '1');
      expect(await prepare()).to.deep.equal({
        ok: false,
        error: [
          '/proc/sys/net/ipv4/vs/conntrack could not be set to 1: EROFS',
          '/proc/sys/net/ipv4/vs/expire_quiescent_template could not be set to 1: EROFS',
          '/proc/sys/net/ipv4/ip_forward could not be set to 1: EROFS',
        ],
      });
    });

    it('needs no right to write where everything is as wanted', async () => {
      await prepare();
      host.writeText = async (path) => ({ ok: false, error: { kind: 'file-failed', path, code: 'EROFS' } });
      expect(await prepare()).to.deep.equal({ ok: true, value: { written: [], warnings: [] } });
    });

    it('only warns of an optional setting that cannot be written', async () => {
      const write = host.writeText;
      host.writeText = async (path, text) =>
        path.endsWith('conn_reuse_mode')
          ? { ok: false, error: { kind: 'file-failed', path, code: 'ENOENT' } }
          : write(path, text);
      const prepared = await prepare({ release: '5.4.0' });
      expect(prepared.ok && prepared.value.warnings).to.deep.equal([
        '/proc/sys/net/ipv4/vs/conn_reuse_mode could not be set to 0: ENOENT',
      ]);
    });

    it('R110: starts where the kernel has IPVS built in and lists no module, without loading one', async () => {
      host.files.set('/proc/modules', '');
      expect(await prepare()).to.deep.include({ ok: true });
      expect(commands()).to.deep.equal(['conntrack --version']);
    });

    it('R112: does not miss a module loader where the kernel answers', async () => {
      host.missing.add('modprobe');
      const prepared = await prepare();
      expect(prepared.ok && prepared.value.warnings).to.deep.equal([]);
    });

    it('stops when connection tracking cannot be limited, and names that along with the rest', async () => {
      host.writeText = async (path) => ({ ok: false, error: { kind: 'file-failed', path, code: 'EROFS' } });
      const prepared = await prepare({ conntrack: { ...standard.conntrack, udpTimeoutMs: 30_000 } });
      expect(!prepared.ok && prepared.error.map((line) => line.split(' ')[0])).to.deep.equal([
        '/proc/sys/net/ipv4/vs/conntrack',
        '/proc/sys/net/ipv4/vs/expire_nodest_conn',
        '/proc/sys/net/ipv4/vs/expire_quiescent_template',
        '/proc/sys/net/ipv4/ip_forward',
        '/proc/sys/net/netfilter/nf_conntrack_udp_timeout',
      ]);
    });

    describe('of a kernel without IPVS', () => {
      let loaded: boolean;

      beforeEach(() => {
        loaded = false;
        const { readText, runTool } = host;
        host.readText = async (path) =>
          path === '/proc/net/ip_vs' && !loaded
            ? { ok: false, error: { kind: 'file-failed', path, code: 'ENOENT' } }
            : readText(path);
        host.runTool = async (call) => {
          const output = await runTool(call);
          loaded = loaded || (call.tool === 'modprobe' && output.ok);
          return output;
        };
      });

      it('loads the module', async () => {
        answers.set('modprobe -va ip_vs', '');
        const prepared = await prepare();
        expect(prepared.ok && prepared.value.warnings).to.deep.equal([]);
        expect(commands()).to.deep.equal(['modprobe -va ip_vs', 'conntrack --version']);
      });

      it('gives up, having written nothing, when that does not help', async () => {
        expect(await prepare()).to.deep.equal({
          ok: false,
          error: [
            'the kernel has no IPVS: load the modules ip_vs, ip_vs_rr (and ip_vs_NAME of another scheduler) and nf_conntrack on the host; modprobe failed with status 1: no',
          ],
        });
        expect(settings()).to.deep.equal({});
      });

      it('R112: names the modules to load on the host in one message, where the kernel has no IPVS and the image no modprobe', async () => {
        host.missing.add('modprobe');
        const prepared = await prepare();
        expect(!prepared.ok && prepared.error).to.have.lengthOf(1);
        expect(!prepared.ok && prepared.error[0]).to.match(
          /^the kernel has no IPVS: load the modules ip_vs, .* nf_conntrack on the host; modprobe is not installed/,
        );
      });
    });

    const timeouts: readonly (readonly [string, Partial<IpvsTimeouts>, readonly string[]])[] = [
      ['leaves timeouts alone that are not given', {}, []],
      [
        'sets all three in whole seconds, 0 leaving one as it is',
        { tcpTimeoutMs: 900_500 },
        ['--set', '900', '0', '0'],
      ],
      ['sets the others too', { tcpFinTimeoutMs: 120_000, udpTimeoutMs: 300_000 }, ['--set', '0', '120', '300']],
      ['leaves timeouts alone that are less than a second', { udpTimeoutMs: 999 }, []],
    ];
    for (const [name, given, args] of timeouts) {
      it(name, async () => {
        answers.set(['ipvsadm', ...args].join(' '), '');
        expect((await prepare({ timeouts: { ...asTheyAre, ...given } })).ok).to.equal(true);
        const set = args.length === 0 ? [] : [['ipvsadm', ...args].join(' ')];
        expect(commands()).to.deep.equal([...set, 'conntrack --version']);
      });
    }

    it('only warns of a missing conntrack, and names the package', async () => {
      host.missing.add('conntrack');
      const prepared = await prepare();
      expect(prepared.ok && prepared.value.warnings).to.deep.equal([
        "stale UDP flows are not ended: conntrack is not installed or not on PATH; install Debian's package conntrack",
      ]);
    });

    it('only warns when timeouts cannot be set', async () => {
      const prepared = await prepare({ timeouts: { ...asTheyAre, udpTimeoutMs: 1000 } });
      expect(prepared.ok && prepared.value.warnings).to.deep.equal([
        'IPVS timeouts are as before: ipvsadm failed with status 1: no',
      ]);
    });
  });
});
