import { expect } from 'chai';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { countedHost, type KernelCall } from './counted-host.ts';
import type { Tool } from './tool.ts';

describe('apply/counted-host', () => {
  let told: KernelCall[];
  let now: number;
  const kernel = memoryKernel({});
  const slow = {
    ...kernel,
    runTool: (call: Parameters<typeof kernel.runTool>[0]) => {
      now += 7;
      return kernel.runTool(call);
    },
  };
  const host = countedHost(
    slow,
    () => now,
    (call) => told.push(call),
  );
  const run = (tool: Tool, args: readonly string[], input?: string) =>
    host.runTool({ tool, args, timeoutMs: 1000, ...(input === undefined ? {} : { input }) });

  beforeEach(() => {
    told = [];
    now = 0;
  });

  it('tells of each call whether it read or wrote, how it ended, and how long it took', async () => {
    await run('ipvsadm', ['-Ln']);
    await run('ipvsadm', ['-R'], '-A -t 172.20.1.1:80 -s rr\n');
    await run('ipset', ['-exist', 'restore'], 'nonsense\n');
    await run('conntrack', ['-D', '-p', 'udp', '-f', 'ipv4', '--orig-dst', '172.20.1.1', '--orig-port-dst', '53']);
    await host.readText('/proc/sys/nothing');
    await host.writeText('/proc/sys/something', '1');
    expect(
      told.map(({ tool, operation, result, tookMs }) => [tool, operation, result, tookMs].join(' ')),
    ).to.deep.equal([
      'ipvsadm read ok 7',
      'ipvsadm write ok 7',
      'ipset write failed 7',
      'conntrack write failed 7',
      'file read failed 0',
      'file write ok 0',
    ]);
  });

  it('hands on what the machine answers', async () => {
    const refused = await run('ipset', ['-exist', 'restore'], 'nonsense\n');
    expect(refused.ok).to.equal(false);
    expect(await host.readText('/proc/sys/something')).to.deep.equal({ ok: true, value: '1' });
  });
});
