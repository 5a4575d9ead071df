import { parseSets } from '../lab/kernel-state.ts';
import { loadCases, MEMORY_BEHAVIOURS } from './cases.ts';
import { type Links, memoryKernel } from './memory-kernel.ts';
import { type CaseKernel, runCase } from './run-case.ts';

describe('test/kernel/cases', () => {
  for (const behaviour of MEMORY_BEHAVIOURS) {
    for (const { path, content } of loadCases()) {
      it(`${path}, ${behaviour}: ${content.summary}`, () =>
        runCase(content, memoryCaseKernel(content.node.addresses), behaviour));
    }
  }
});

function memoryCaseKernel(links: Links): CaseKernel {
  const kernel = memoryKernel(links);
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
