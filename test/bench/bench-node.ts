import type { Host } from '../../src/apply/host.ts';
import { Kernel } from '../../src/apply/kernel.ts';
import type { ClusterObjects } from '../../src/kube/cluster-objects.ts';
import type { Family } from '../../src/net/family.ts';
import { type PassKind, type PassReport, Proxier } from '../../src/sync/proxier.ts';
import { settings } from '../builders/objects.ts';
import { type MemoryKernel, memoryKernel } from '../kernel/memory-kernel.ts';
import { LINKS, NODE_NAME } from './cluster.ts';

const FAMILIES: readonly Family[] = ['IPv4'];

/** The proxier as the daemon builds it, IPv4 alone, on a machine. */
export function proxierOn(host: Host, nowMs = () => performance.now()): Proxier {
  const kernel = new Kernel(host, FAMILIES, nowMs);
  return new Proxier({ families: FAMILIES, nodeName: NODE_NAME, settings: settings(), kernel, nowMs });
}

/** Tells it of a whole cluster, as the first lists do. */
export function recordCluster({ record }: Proxier, { services, slices }: ClusterObjects): void {
  for (const service of services) record.service(undefined, service);
  for (const slice of slices) record.slice(undefined, slice);
}

/** A pass that has to succeed: of one that fails there is nothing to measure. */
export async function pass(proxier: Proxier, kind: PassKind): Promise<PassReport> {
  const report = await proxier.pass(kind, ['bench']);
  const [error] = [...report.errors, ...report.refusals];
  if (error) throw new Error(`the ${kind} pass failed: ${error.message}`);
  return report;
}

/** A kernel in memory that has what the cluster asks for, and the proxier that has programmed it. */
export async function programmedKernel(
  cluster: ClusterObjects,
): Promise<{ readonly kernel: MemoryKernel; readonly proxier: Proxier }> {
  const kernel = memoryKernel(LINKS);
  const proxier = proxierOn(kernel);
  recordCluster(proxier, cluster);
  await pass(proxier, 'full');
  kernel.calls.length = 0;
  return { kernel, proxier };
}
