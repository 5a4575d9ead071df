import type { ProxySettings } from '../../src/desired/settings.ts';
import { parseAddressShow } from '../../src/kernel/dummy/parse.ts';
import { DUMMY_INTERFACE } from '../../src/kernel/dummy/state.ts';
import { decodeObjects } from '../../src/kube/cluster-objects.ts';
import type { NodeView } from '../../src/model/node-view.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { renderFullState } from '../../src/plan/scripts.ts';
import { computeOnce } from '../../src/sync/compute-once.ts';
import type { ObjectJson } from './cluster-objects.ts';
import type { MemoryKernel } from './memory-kernel.ts';

/** What a kernel holds as one text: virtual servers, sets, bound addresses, rules. Equal states give equal texts. */
export function kernelText(kernel: MemoryKernel): string {
  return [
    '# ipvs',
    ...sortedLines(kernel.ipvs.save()),
    '# ipset',
    ...sortedLines(kernel.ipsets.save()),
    '# addresses',
    ...kernel.addresses.addresses(DUMMY_INTERFACE).sort(),
    '# iptables',
    ...byChain(kernel.tables.IPv4.save()),
    '# ip6tables',
    ...byChain(kernel.tables.IPv6.save()),
  ].join('\n');
}

/** Gives the kernel the full scripts for the objects, as `render` prints them; node-a must be among them. */
export function programFromScratch(
  kernel: MemoryKernel,
  objects: readonly ObjectJson[],
  settings: ProxySettings,
): void {
  const { services, slices, nodes } = decodeObjects(objects);
  const node = nodes.find(({ name }) => name === 'node-a');
  const interfaces = parseAddressShow(kernel.addresses.show());
  if (!node || !interfaces) throw new Error('there is no node-a among the objects, or no address');
  const others = nodes.filter((each) => each !== node).flatMap(({ addresses }) => addresses);
  const view: NodeView = { ...node, otherNodeAddresses: new Set(others), interfaces };
  const scripts = renderFullState(computeOnce({ services, slices }, view, FAMILIES, settings));
  const answers = [
    kernel.ipsets.restore(scripts.ipset),
    kernel.tables.IPv4.restore(scripts.iptables),
    kernel.tables.IPv6.restore(scripts.ip6tables),
    kernel.ipvs.restore(scripts.ipvs),
    kernel.addresses.batch(scripts.address),
  ];
  for (const { stderr } of answers) if (stderr !== '') throw new Error(`a full script was refused: ${stderr}`);
}

/** The lines that stand in one of the texts only, marked `-` and `+`. */
export function differingLines(present: string, wanted: string): string {
  const [now, then] = [present, wanted].map((text) => new Set(text.split('\n')));
  const surplus = [...(now ?? [])].filter((line) => !then?.has(line)).map((line) => `+ ${line}`);
  const missing = [...(then ?? [])].filter((line) => !now?.has(line)).map((line) => `- ${line}`);
  return [...surplus, ...missing].join('\n') || 'the same lines in another order';
}

function sortedLines(text: string): readonly string[] {
  return text.split('\n').filter(Boolean).sort();
}

/** Rules of a chain keep their order; chains have none. */
function byChain(text: string): readonly string[] {
  let table = '';
  const lines = text.split('\n').flatMap((line) => {
    if (line.startsWith('*')) table = line;
    return /^[-:]/.test(line) ? [`${table} ${line}`] : [];
  });
  const chainOf = (line: string) => line.split(' ', 3).join(' ');
  return lines
    .map((line) => ({ line, chain: chainOf(line) }))
    .sort((a, b) => (a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : 0))
    .map(({ line }) => line);
}
