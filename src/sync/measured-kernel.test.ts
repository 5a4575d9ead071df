import { expect } from 'chai';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { Kernel } from '../apply/kernel.ts';
import { FAMILIES } from '../net/family.ts';
import { measuredKernel } from './measured-kernel.ts';

describe('sync/measured-kernel', () => {
  it('tells how long each look for stale flows takes, and hands on what comes of it', async () => {
    let now = 0;
    const machine = memoryKernel({});
    const slow = {
      ...machine,
      runTool: (call: Parameters<typeof machine.runTool>[0]) => {
        now += 40;
        return machine.runTool(call);
      },
    };
    const told: unknown[] = [];
    const kernel = measuredKernel(
      new Kernel(slow, FAMILIES, () => now),
      () => now,
      (...heard) => told.push(heard),
    );
    const cleared = await kernel.clearStaleFlows('IPv6', new Map());
    expect(cleared).to.deep.include({ ok: true });
    expect(told).to.deep.equal([['IPv6', 40]]);
    expect((await kernel.refresh()).ok).to.equal(true);
    expect(kernel.known('IPv4').ok).to.equal(true);
  });
});
