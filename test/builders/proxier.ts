import { Kernel } from '../../src/apply/kernel.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { Proxier, type ProxierOptions } from '../../src/sync/proxier.ts';
import type { MemoryKernel } from '../kernel/memory-kernel.ts';
import { settings } from './objects.ts';

/** The proxier of `node-a` on a kernel in memory, both families, on a clock that stands still. */
export function proxierOn(kernel: MemoryKernel, given: Partial<ProxierOptions> = {}): Proxier {
  const families = given.families ?? FAMILIES;
  return new Proxier({
    families,
    nodeName: 'node-a',
    settings: settings(),
    kernel: new Kernel(kernel, families, () => 0),
    nowMs: () => 0,
    ...given,
  });
}

/** Tools started since the last call: those that only read, and those that were given a script. */
export function takeCalls(kernel: MemoryKernel): {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
} {
  const calls = kernel.calls.splice(0);
  return {
    reads: calls.filter(({ input }) => input === undefined).map(({ tool }) => tool),
    writes: calls.filter(({ input }) => input !== undefined).map(({ tool }) => tool),
  };
}
