import { assertNever } from '../../../src/model/assert-never.ts';
import type { MemoryKernel } from '../memory-kernel.ts';
import { FOREIGN_ADDRESS, FOREIGN_SERVER } from './foreign.ts';

/** What somebody else may do to things of ours; `address` is one of kube-ipvs0, `chain` is emptied. */
export const OTHER_CHANGES = [
  'virtual-server',
  'real-server',
  'weight',
  'scheduler',
  'entry',
  'address',
  'rule',
  'chain',
  'hidden',
] as const;

export interface OtherChange {
  readonly kind: (typeof OTHER_CHANGES)[number];
  /** Which of those that there are, counted round. */
  readonly pick: number;
}

/** Does it, if there is anything of the kind. */
export function disturb(kernel: MemoryKernel, { kind, pick }: OtherChange): void {
  const { ipvs, ipsets, addresses } = kernel;
  const choose = <T>(among: readonly T[]): readonly T[] => among.slice(pick % (among.length || 1)).slice(0, 1);
  const servers = choose(linesOf(ipvs.save(), /^-A (\S+ \S+) /));
  const reals = choose(linesOf(ipvs.save(), /^-a (\S+ \S+ -r \S+) /));
  switch (kind) {
    case 'virtual-server':
      for (const server of servers) ipvs.restore(`-D ${server}\n`);
      break;
    case 'real-server':
      for (const real of reals) ipvs.restore(`-d ${real}\n`);
      break;
    case 'weight':
      for (const real of reals) ipvs.restore(`-e ${real} -m -w 0\n`);
      break;
    case 'scheduler':
      for (const server of servers) ipvs.restore(`-E ${server} -s wlc\n`);
      break;
    case 'hidden':
      for (const server of servers) kernel.skippedInProc.add(server);
      break;
    case 'entry':
      for (const entry of choose(linesOf(ipsets.save(), /^add (KUBE-.*)$/))) ipsets.restore(`del ${numbered(entry)}\n`);
      break;
    case 'address': {
      const bound = addresses.addresses('kube-ipvs0').filter((address) => address !== FOREIGN_ADDRESS);
      for (const address of choose(bound)) {
        addresses.batch(`address delete ${address}/${address.includes(':') ? 128 : 32} dev kube-ipvs0\n`);
      }
      break;
    }
    case 'rule':
    case 'chain':
      disturbRules(kernel, kind, choose);
      break;
    default:
      assertNever(kind);
  }
}

/** Chains that have several jumps of ours are left out: in what order those stand is not looked at. */
function disturbRules(
  { tables }: MemoryKernel,
  kind: 'rule' | 'chain',
  choose: <T>(among: readonly T[]) => readonly T[],
): void {
  const pattern = kind === 'rule' ? /^(-A (?:KUBE-|PREROUTING|POSTROUTING|OUTPUT).*)$/ : /^:(KUBE-\S+) /;
  const found = ([tables.IPv4, tables.IPv6] as const).flatMap((family) => {
    let table = '';
    return family
      .save()
      .split('\n')
      .flatMap((line) => {
        if (line.startsWith('*')) table = line;
        const [, name] = pattern.exec(line) ?? [];
        return name === undefined ? [] : [{ family, table, name }];
      });
  });
  for (const { family, table, name } of choose(found)) {
    const line = kind === 'rule' ? name.replace('-A', '-D') : `:${name} - [0:0]`;
    family.restore(`${table}\n${line}\nCOMMIT\n`);
  }
}

/** What is behind the command in lines of this kind; nothing of what is foreign. */
function linesOf(text: string, pattern: RegExp): readonly string[] {
  return text.split('\n').flatMap((line) => (line.includes(FOREIGN_SERVER) ? [] : (pattern.exec(line)?.[1] ?? [])));
}

/** As `ipset restore` is given entries. */
export function numbered(entry: string): string {
  return entry.replace(/,(tcp|udp|sctp):/, (_, name: 'tcp' | 'udp' | 'sctp') => `,${NUMBERS[name]}:`);
}

const NUMBERS = { tcp: 6, udp: 17, sctp: 132 } as const;
