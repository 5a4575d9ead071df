import { Kernel } from '../../src/apply/kernel.ts';
import type { Desired } from '../../src/desired/desired.ts';
import type { ProxySettings } from '../../src/desired/settings.ts';
import { type ClusterObjects, decodeObjects } from '../../src/kube/cluster-objects.ts';
import type { Family } from '../../src/net/family.ts';
import { computeOnce } from '../../src/sync/compute-once.ts';
import { cidr } from '../builders/net.ts';
import { nodeView, settings } from '../builders/objects.ts';
import type { Links, MemoryKernel } from '../kernel/memory-kernel.ts';
import type { TracedState } from './path.ts';
import { linksOf, type NodeName } from './place.ts';
import { NODES, type Sketch } from './sketch.ts';

/** Pods of the cluster are told from others by their addresses, unless settings say otherwise. */
export function settingsOf(given: Partial<ProxySettings>): ProxySettings {
  const cidrs = [cidr('10.180.0.0/16'), cidr('fd00:180::/32')];
  return settings({ detectLocal: { kind: 'cluster-cidr', cidrs }, ...given });
}

export interface StatesGiven {
  readonly settings: ProxySettings;
  /** Interfaces of every node beside the usual ones, with their addresses. */
  readonly moreLinks?: Links;
}

/** What a node wants of a family, made from nothing; computed when it is first asked for. */
export function desiredStates(
  sketches: readonly Sketch[],
  family: Family,
  given: StatesGiven,
): (node: NodeName) => Desired {
  const objects = decodeObjects([...NODES, ...sketches.map((sketch) => sketch(family))]);
  const known = new Map<NodeName, Desired>();
  return (node) => {
    const desired = known.get(node) ?? desiredState(objects, node, family, given);
    known.set(node, desired);
    return desired;
  };
}

function desiredState(
  objects: ClusterObjects,
  name: NodeName,
  family: Family,
  { settings: given, moreLinks = {} }: StatesGiven,
): Desired {
  const own = objects.nodes.find((node) => node.name === name);
  const others = objects.nodes.filter((node) => node !== own).flatMap(({ addresses }) => addresses);
  const interfaces = { ...linksOf(name), ...moreLinks };
  const [desired] = computeOnce(
    objects,
    nodeView({ ...own, otherNodeAddresses: new Set(others), interfaces }),
    [family],
    given,
  );
  if (!desired) throw new Error(`nothing was computed of ${family}`);
  return desired;
}

/** What a kernel in memory holds of a family. */
export async function readState(kernel: MemoryKernel, family: Family): Promise<TracedState> {
  const reader = new Kernel(kernel, [family], () => 0);
  await reader.refresh();
  const read = reader.known(family);
  if (!read.ok) throw new Error(`the kernel in memory cannot be read: ${read.error.message}`);
  return read.value;
}
