import type { Host } from '../../src/apply/host.ts';
import type { ClusterObjects } from '../../src/kube/cluster-objects.ts';
import { pass, programmedKernel, proxierOn, recordCluster } from './bench-node.ts';
import { middleSlice, oneEndpointLess } from './cluster.ts';
import { machineTexts, preparedHost } from './hosts.ts';

/**
 * A daemon on a machine that has what the cluster asks for already. Each call lets one endpoint go or come back, and passes. Its clock stands
 * still: it is never time to look whether what drains is done, which is another event.
 */
export async function changingNode(host: Host, cluster: ClusterObjects): Promise<() => Promise<void>> {
  const proxier = proxierOn(host, () => 0);
  recordCluster(proxier, cluster);
  await pass(proxier, 'full');
  const slice = middleSlice(cluster);
  let turn: readonly [typeof slice, typeof slice] = [slice, oneEndpointLess(slice)];
  return async () => {
    const [from, to] = turn;
    turn = [to, from];
    proxier.record.slice(from, to);
    await pass(proxier, 'normal');
  };
}

/** The same on a machine that takes no time. */
export async function preparedNode(cluster: ClusterObjects): Promise<() => Promise<void>> {
  const { kernel } = await programmedKernel(cluster);
  const full = await machineTexts(kernel);
  const change = await changingNode(kernel, cluster);
  await change();
  const less = await machineTexts(kernel);
  return changingNode(preparedHost([full, less]), cluster);
}
