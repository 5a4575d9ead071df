import { parseSets } from '../lab/kernel-state.ts';
import type { MemoryKernel } from './memory-kernel.ts';
import type { CaseKernel } from './run-case.ts';

/** A kernel in memory on which vectors are played. */
export function memoryCaseKernel(kernel: MemoryKernel): CaseKernel {
  let seen = 0;
  return {
    repeatAfter: 'every step',
    host: kernel,
    dump: async () => ({
      ipvs: kernel.ipvs.save().split('\n').filter(Boolean),
      dummy: kernel.addresses.addresses('kube-ipvs0'),
      sets: parseSets(kernel.ipsets.save()),
      tables: [kernel.tables.IPv4.save(), kernel.tables.IPv6.save()],
    }),
    takeWrites: () => {
      const calls = kernel.calls.slice(seen);
      seen = kernel.calls.length;
      return calls.filter(({ input }) => input !== undefined).map(({ tool }) => tool);
    },
  };
}
