import { DUMMY_INTERFACE } from '../../../src/kernel/dummy/state.ts';
import type { MemoryKernel } from '../memory-kernel.ts';

export const SECTIONS = ['ipvs', 'ipset', 'addresses', 'IPv4', 'IPv6'] as const;
export type Section = (typeof SECTIONS)[number];

/**
 * What a kernel holds as lines that say all about one thing each: `-A` and `-a` of `ipvsadm -Sn`, `create` and `add` of `ipset save`,
 * `bound ADDRESS`, and `IPv4 *nat -A CHAIN RULE`. Equal states give equal lines. Sizes of sets are left out: {@link withoutSizes}.
 */
export type KernelLines = Readonly<Record<Section, ReadonlySet<string>>>;

export function kernelLines(kernel: MemoryKernel): KernelLines {
  const [ipvs, ipset, addresses, IPv4, IPv6] = SECTIONS.map((section) => linesOf(section, kernel));
  const none = new Set<string>();
  return {
    ipvs: ipvs ?? none,
    ipset: ipset ?? none,
    addresses: addresses ?? none,
    IPv4: IPv4 ?? none,
    IPv6: IPv6 ?? none,
  };
}

export function linesOf(section: Section, { ipvs, ipsets, addresses, tables }: MemoryKernel): ReadonlySet<string> {
  switch (section) {
    case 'ipvs':
      return split(ipvs.save());
    case 'ipset':
      return split(withoutSizes(ipsets.save()));
    case 'addresses':
      return new Set(addresses.addresses(DUMMY_INTERFACE).map((address) => `bound ${address}`));
    default:
      return ruleLines(section, tables[section].save());
  }
}

/** How many entries a set has room for depends on those that it had before. */
export function withoutSizes(text: string): string {
  return text.replace(/ maxelem \d+$/gm, '');
}

/** The lines of all sections that are in `a` and not in `b`. */
export function difference(a: KernelLines, b: KernelLines): readonly string[] {
  return SECTIONS.flatMap((section) => [...a[section].difference(b[section])]);
}

function split(text: string): ReadonlySet<string> {
  const lines = new Set(text.split('\n'));
  lines.delete('');
  return lines;
}

function ruleLines(family: string, text: string): ReadonlySet<string> {
  let table = '';
  const lines = new Set<string>();
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) table = line;
    else if (line.startsWith('-') || line.startsWith(':')) lines.add(`${family} ${table} ${line}`);
  }
  return lines;
}
