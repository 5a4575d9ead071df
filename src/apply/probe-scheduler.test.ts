import { expect } from 'chai';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { probeScheduler } from './probe-scheduler.ts';
import type { ToolCall } from './tool.ts';

const PROBE = '-t 198.51.100.0:20000';
const NOT_FOUND = 'Scheduler or persistence engine not found';

describe('apply/probe-scheduler', () => {
  let host: MemoryKernel;

  beforeEach(() => {
    host = memoryKernel({});
  });

  const probe = (scheduler: string, ...schedulerFlags: readonly string[]) =>
    probeScheduler(host, { scheduler, schedulerFlags, ifUnknown: 'round-robin' });

  /** Scripts and modules, in the order in which they were tried. */
  const changes = () =>
    host.calls.flatMap(({ tool, args, input }) =>
      tool === 'modprobe' ? `${tool} ${args.at(-1)}` : (input?.trim() ?? []),
    );

  /** Puts a tool that answers some calls otherwise before the kernel's own. */
  function answering(
    answer: (call: ToolCall) => { readonly exitCode: number; readonly stderr: string } | undefined,
  ): void {
    const { runTool } = host;
    host.runTool = async (call) => {
      const refusal = answer(call);
      const { tool, input: script = '' } = call;
      return refusal ? { ok: false, error: { kind: 'tool-refused', tool, script, ...refusal } } : runTool(call);
    };
  }

  const accepted: readonly (readonly [scheduler: string, flags: readonly string[]])[] = [
    ['rr', []],
    ['wlc', []],
    ['mh', ['mh-port']],
    ['mh', ['mh-fallback', 'mh-port']],
    ['sh', ['sh-port']],
    ['lc', ['flag-1', 'flag-3']],
  ];
  for (const [scheduler, schedulerFlags] of accepted) {
    it(`tries ${[scheduler, ...schedulerFlags].join(' ')}, and leaves nothing behind`, async () => {
      const chosen = { scheduler, schedulerFlags };
      expect(await probe(scheduler, ...schedulerFlags)).to.deep.equal({
        ok: true,
        value: { chosen, warning: undefined },
      });
      const flags = schedulerFlags.length > 0 ? ` -b ${schedulerFlags.join()}` : '';
      expect(changes()).to.deep.equal([
        `modprobe ip_vs_${scheduler}`,
        `-A ${PROBE} -s ${scheduler}${flags}`,
        `-D ${PROBE}`,
      ]);
      expect(host.ipvs.save()).to.equal('');
    });
  }

  it('R113: is in trouble when the kernel lacks the scheduler and nothing takes its place, and tries no other', async () => {
    host.ipvs.restore('-A -t 172.20.1.1:80 -s rr\n');
    host.ipvs.schedulers.delete('wlc');
    const wanted = { scheduler: 'wlc', schedulerFlags: [], ifUnknown: 'stop' } as const;
    expect(await probeScheduler(host, wanted)).to.deep.equal({
      ok: false,
      error: [
        `scheduler wlc cannot be used: ipvsadm failed with status 255: ${NOT_FOUND}; load module ip_vs_wlc on the host, ` +
          'or set ipvs.scheduler to one that its kernel has, or set unknownScheduler to round-robin',
      ],
    });
    expect(changes()).to.deep.equal(['modprobe ip_vs_wlc', `-A ${PROBE} -s wlc`]);
    expect(host.ipvs.save()).to.equal('-A -t 172.20.1.1:80 -s rr\n');
  });

  it('proposes nothing in the place of rr', async () => {
    host.ipvs.schedulers.clear();
    const probed = await probeScheduler(host, { scheduler: 'rr', schedulerFlags: [], ifUnknown: 'stop' });
    expect(probed.ok || probed.error.join()).to.match(
      /load module ip_vs_rr on .*, or set ipvs.scheduler .* kernel has$/,
    );
  });

  it('falls back to rr, with one warning, when the kernel lacks the scheduler', async () => {
    host.ipvs.schedulers.delete('mh');
    expect(await probe('mh', 'mh-port')).to.deep.equal({
      ok: true,
      value: {
        chosen: { scheduler: 'rr', schedulerFlags: [] },
        warning:
          `scheduler mh cannot be used, so rr is used without flags: ipvsadm failed with status 255: ${NOT_FOUND}; ` +
          'load module ip_vs_mh on the host, or set ipvs.scheduler to one that its kernel has',
      },
    });
    expect(host.ipvs.save()).to.equal('');
  });

  it('falls back when the tool is too old for the flags', async () => {
    answering(({ input }) =>
      input?.includes('-b') ? { exitCode: 2, stderr: "invalid scheduler flag `mh-port'\n" } : undefined,
    );
    const probed = await probe('mh', 'mh-port');
    expect(probed.ok && probed.value.chosen).to.deep.equal({ scheduler: 'rr', schedulerFlags: [] });
    expect(probed.ok && probed.value.warning).to.include("invalid scheduler flag `mh-port'");
  });

  it('falls back when the kernel does not keep the flags', async () => {
    const { runTool } = host;
    host.runTool = (call) =>
      runTool(call.input === undefined ? call : { ...call, input: call.input.replace(/ -b \S+/, '') });
    const probed = await probe('sh', 'sh-port');
    expect(probed.ok && probed.value.chosen.scheduler).to.equal('rr');
    expect(probed.ok && probed.value.warning).to.include(
      'it reads back as sh, not as sh (sh-port); load module ip_vs_sh',
    );
  });

  it('loads the module first', async () => {
    host.ipvs.schedulers.delete('wlc');
    answering(({ tool, args }) => {
      if (tool === 'modprobe') host.ipvs.schedulers.add(args.at(-1)?.replace('ip_vs_', '') ?? '');
      return undefined;
    });
    const probed = await probe('wlc');
    expect(probed.ok && probed.value.chosen.scheduler).to.equal('wlc');
  });

  it('needs no modprobe where the kernel has the scheduler', async () => {
    host.missing.add('modprobe');
    expect(await probe('wlc')).to.deep.include({ ok: true });
  });

  it('tries nothing when a virtual server uses the scheduler already', async () => {
    host.ipvs.restore('-A -u [fd00::1]:53 -s wlc\n');
    const probed = await probe('wlc');
    expect(probed.ok && probed.value.chosen.scheduler).to.equal('wlc');
    expect(changes()).to.deep.equal([]);
  });

  it('tries it when virtual servers use others', async () => {
    host.ipvs.restore('-A -t 172.20.1.1:80 -s rr\n');
    host.ipvs.schedulers.delete('wlc');
    const probed = await probe('wlc');
    expect(probed.ok && probed.value.chosen.scheduler).to.equal('rr');
    expect(host.ipvs.save()).to.equal('-A -t 172.20.1.1:80 -s rr\n');
  });

  it('removes what a killed process left, and does not take it for proof', async () => {
    host.ipvs.restore(`-A ${PROBE} -s wlc\n`);
    await probe('wlc');
    expect(changes()).to.deep.equal([`-D ${PROBE}`, 'modprobe ip_vs_wlc', `-A ${PROBE} -s wlc`, `-D ${PROBE}`]);
    expect(host.ipvs.save()).to.equal('');
  });

  it('also removes it when nothing has to be tried', async () => {
    host.ipvs.restore(`-A ${PROBE} -s mh\n-A -t 172.20.1.1:80 -s rr\n`);
    await probe('rr');
    expect(host.ipvs.save()).to.equal('-A -t 172.20.1.1:80 -s rr\n');
  });

  it("leaves somebody else's virtual server at that address alone, and takes the scheduler on trust", async () => {
    const foreign = `-A ${PROBE} -s rr\n-a ${PROBE} -r 10.0.0.1:80 -m -w 1\n`;
    host.ipvs.restore(foreign);
    const probed = await probe('nosuch');
    expect(probed.ok && probed.value.chosen.scheduler).to.equal('nosuch');
    expect(host.ipvs.save()).to.equal(foreign);
  });

  it('gives up when there is not even rr', async () => {
    for (const scheduler of ['mh', 'rr']) host.ipvs.schedulers.delete(scheduler);
    for (const wanted of ['mh', 'rr']) {
      expect(await probe(wanted)).to.deep.equal({
        ok: false,
        error: [`not even scheduler rr can be used: ipvsadm failed with status 255: ${NOT_FOUND}`],
      });
    }
  });

  it('gives up, without blaming the scheduler, when IPVS cannot be changed', async () => {
    answering(({ input }) => (input === undefined ? undefined : { exitCode: 255, stderr: 'Permission denied\n' }));
    expect(await probe('mh')).to.deep.equal({
      ok: false,
      error: ['ipvsadm failed with status 255: Permission denied'],
    });
  });

  it('gives up when the probe cannot be removed', async () => {
    answering(({ input }) => (input?.startsWith('-D') ? { exitCode: 255, stderr: 'No such service\n' } : undefined));
    expect(await probe('mh')).to.deep.equal({ ok: false, error: ['ipvsadm failed with status 255: No such service'] });
  });

  it('gives up when IPVS cannot be read', async () => {
    answering(({ args }) => (args[0] === '-Ln' ? { exitCode: 2, stderr: "Can't initialize ipvs\n" } : undefined));
    expect(await probe('mh')).to.deep.equal({
      ok: false,
      error: ["ipvsadm failed with status 2: Can't initialize ipvs"],
    });
    expect(changes()).to.deep.equal([]);
  });
});
