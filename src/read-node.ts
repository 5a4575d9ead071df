import type { Host } from './apply/host.ts';
import { describeReadError, observedOf, readKernel } from './apply/read-kernel.ts';
import type { ObservedState } from './kernel/state.ts';
import type { InterfaceAddresses } from './model/node-view.ts';
import { fail, type Result, succeed } from './model/result.ts';
import type { Family } from './net/family.ts';

/** What a node has at one time. */
export interface SeenNode {
  readonly interfaces: InterfaceAddresses;
  /** One for each family that was asked for. */
  readonly observed: ReadonlyMap<Family, ObservedState>;
}

/** Reads all of it as a full pass does, and writes nothing. The error is one line for a person. */
export async function readNode(host: Host, families: readonly Family[]): Promise<Result<SeenNode, string>> {
  const readings = await readKernel(host, families, undefined);
  if (!readings.ok) {
    const { error } = readings;
    const isWithoutIpvs = error.kind === 'file-failed' && error.code === 'ENOENT';
    return fail(isWithoutIpvs ? `${describeReadError(error)}; ${NOT_LOADED}` : describeReadError(error));
  }
  const observed = new Map<Family, ObservedState>();
  for (const family of families) {
    const own = observedOf(readings.value, family);
    if (!own.ok) return fail(describeReadError(own.error));
    observed.set(family, own.value);
  }
  return succeed({ interfaces: readings.value.interfaces, observed });
}

const NOT_LOADED = 'IPVS is not loaded, and nothing is programmed';
