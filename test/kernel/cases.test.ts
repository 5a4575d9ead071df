import { loadCases, MEMORY_BEHAVIOURS } from './cases.ts';
import { memoryCaseKernel } from './memory-case-kernel.ts';
import { memoryKernel } from './memory-kernel.ts';
import { runCase } from './run-case.ts';

describe('test/kernel/cases', () => {
  for (const behaviour of MEMORY_BEHAVIOURS) {
    for (const { path, content } of loadCases()) {
      it(`${path}, ${behaviour}: ${content.summary}`, () =>
        runCase(content, memoryCaseKernel(memoryKernel(content.node.addresses)), behaviour));
    }
  }
});
