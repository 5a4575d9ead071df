import type { Family } from '../net/family.ts';
import type { KernelPort } from './ports.ts';

/** The same kernel; `flowsCleared` hears how long each look for stale UDP flows took, whatever came of it. */
export function measuredKernel(
  kernel: KernelPort,
  nowMs: () => number,
  flowsCleared: (family: Family, tookMs: number) => void,
): KernelPort {
  return {
    refresh: (families) => kernel.refresh(families),
    known: (family) => kernel.known(family),
    readServers: (family) => kernel.readServers(family),
    createInterface: () => kernel.createInterface(),
    countConnections: (family, servers) => kernel.countConnections(family, servers),
    peek: (family, server) => kernel.peek(family, server),
    run: (families, scripts) => kernel.run(families, scripts),
    settle: (after, scope) => kernel.settle(after, scope),
    clearStaleFlows: async (family, targets) => {
      const startedMs = nowMs();
      const cleared = await kernel.clearStaleFlows(family, targets);
      flowsCleared(family, nowMs() - startedMs);
      return cleared;
    },
  };
}
