/**
 * Flags that a scheduler's virtual servers carry, each once, under the name and in the order in which `ipvsadm -Sn` prints them, whatever
 * way they were asked for: what is set reads back the same. `wanted` `undefined` is what kube-proxy gives: `mh` hashes the source port too,
 * all others have none. What `schedulerFlagNames` does not have is left out.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/util/ipvs_linux.go; ipvsadm.c, print_sched_flags
 */
export function schedulerFlags(scheduler: string, wanted: readonly string[] | undefined): readonly string[] {
  if (!wanted) return scheduler === 'mh' ? MH_DEFAULT : NO_FLAGS;
  if (wanted.length === 0) return NO_FLAGS;
  return printedNames(scheduler).filter((name, bit) => wanted.includes(name) || wanted.includes(BITS[bit] ?? name));
}

/** Names by which flags of the scheduler may be asked for. `sh` and `mh` name two of the three bits and never show the third. */
export function schedulerFlagNames(scheduler: string): readonly string[] {
  const printed = printedNames(scheduler);
  return [...new Set([...printed, ...BITS.slice(0, printed.length)])];
}

/** Every name that some scheduler has for a flag. */
export const SCHEDULER_FLAGS = [
  'mh-port',
  'mh-fallback',
  'sh-port',
  'sh-fallback',
  'flag-1',
  'flag-2',
  'flag-3',
] as const;

/** The kernel's three bits, by which any scheduler's flags can be given. */
const BITS: readonly string[] = ['flag-1', 'flag-2', 'flag-3'];
const MH_DEFAULT: readonly string[] = ['mh-port'];
const NO_FLAGS: readonly string[] = [];

function printedNames(scheduler: string): readonly string[] {
  return scheduler === 'sh' || scheduler === 'mh' ? [`${scheduler}-fallback`, `${scheduler}-port`] : BITS;
}
