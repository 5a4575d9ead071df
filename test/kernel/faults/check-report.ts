import { describeRefused, type Refused } from '../../../src/plan/refused.ts';
import type { PassReport } from '../../../src/sync/proxier.ts';
import { difference, type KernelLines } from './kernel-lines.ts';
import { numbered } from './others.ts';

/** What a pass has left. */
export interface Left {
  readonly present: KernelLines;
  readonly wanted: KernelLines;
  /** Lines of scripts that a tool was made to refuse. */
  readonly refusedLines: ReadonlySet<string>;
}

/**
 * Throws unless the report tells why something is not as wanted: by an error, or as what the kernel did not take. Nothing may be said to be
 * refused that was not, for a Service would be blamed for it.
 */
export function checkReport(report: PassReport, { present, wanted, refusedLines }: Left): void {
  for (const { refused } of report.refusals) {
    if (![...refusedLines].some((line) => isAbout(line, refused))) {
      throw new Error(`it is blamed without having been refused: ${describeRefused(refused)}`);
    }
  }
  if (report.errors.length > 0) return;
  const refused = report.families.flatMap((family) => family.refused);
  const missing = difference(wanted, present).filter((line) => !refused.some((thing) => explains(thing, line)));
  if (missing.length > 0) throw new Error(`nothing is said of what is missing: ${missing.slice(0, 5).join('; ')}`);
  const surplus = difference(present, wanted).filter((line) => !/^-a -t .* -w 0$/.test(line));
  if (surplus.length > 0) throw new Error(`nothing is said of what is left: ${surplus.slice(0, 5).join('; ')}`);
}

/** Virtual servers that were wanted and stood have their real servers, whatever it was that did not work besides `ipvsadm`. */
export function checkRollouts({ present, wanted }: Pick<Left, 'present' | 'wanted'>): void {
  for (const line of wanted.ipvs.difference(present.ipvs)) {
    const [, server] = /^-a (\S+ \S+) /.exec(line) ?? [];
    const stands = server !== undefined && [...present.ipvs].some((each) => each.startsWith(`-A ${server} `));
    if (stands) throw new Error(`a virtual server that stands lacks: ${line}`);
  }
}

/** The line of a script was to add the thing. */
function isAbout(line: string, thing: Refused): boolean {
  switch (thing.kind) {
    case 'virtual-server':
      return line.startsWith(`-A ${inTool(thing.server)} `);
    case 'real-server':
      return line.startsWith(`-a ${inTool(thing.server)} -r ${thing.real} `);
    case 'address':
      return line.startsWith(`address replace ${thing.address}/`);
    default:
      return line === `add ${thing.set} ${numbered(thing.entry)}`;
  }
}

/** Without the thing, the line of the kernel's state is missing. */
function explains(thing: Refused, line: string): boolean {
  switch (thing.kind) {
    case 'virtual-server': {
      const server = inTool(thing.server);
      const address = server.slice(server.indexOf(' ') + 1, server.lastIndexOf(':')).replace(/[[\]]/g, '');
      return line.startsWith(`-A ${server} `) || line.startsWith(`-a ${server} `) || line === `bound ${address}`;
    }
    case 'real-server':
      return line.startsWith(`-a ${inTool(thing.server)} -r ${thing.real} `);
    case 'address':
      return line === `bound ${thing.address}`;
    default: {
      const isItself = line === `add ${thing.set} ${thing.entry}` || line === `bound ${thing.entry}`;
      return isItself || (thing.set.endsWith('LOAD-BALANCER-FW') && isOfFrontend(thing.entry, line));
    }
  }
}

/** A virtual server of `172.20.1.1,tcp:80`, one of its real servers, or its address. */
function isOfFrontend(entry: string, line: string): boolean {
  const [address = '', protocol = '', port = ''] = entry.split(/,|:(?=\d+$)/);
  const server = inTool(`${protocol.toUpperCase()} ${address.includes(':') ? `[${address}]` : address}:${port}`);
  return new RegExp(`^-[Aa] ${server.replace(/[.[\]]/g, '\\$&')} `).test(line) || line === `bound ${address}`;
}

/** `TCP 172.20.1.1:80` → `-t 172.20.1.1:80` */
function inTool(server: string): string {
  const [protocol = '', address = ''] = server.split(' ');
  return `${FLAGS[protocol]} ${address}`;
}

const FLAGS: Readonly<Record<string, string>> = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' };
