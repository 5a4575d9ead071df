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
  const missing = difference(wanted, present).filter((line) => !refused.some((thing) => explains(thing, line, wanted)));
  if (missing.length > 0) throw new Error(`nothing is said of what is missing: ${missing.slice(0, 5).join('; ')}`);
  const surplus = difference(present, wanted).filter(
    (line) => !/^-a -t .* -w 0$/.test(line) && !refused.some((thing) => explainsSurplus(thing, line)),
  );
  if (surplus.length > 0) throw new Error(`nothing is said of what is left: ${surplus.slice(0, 5).join('; ')}`);
}

/**
 * Virtual servers that were wanted and stood have their real servers, whatever it was that did not work besides `ipvsadm`; but for those
 * that nothing keeps clients outside from, or whose answers would not come back.
 */
export function checkRollouts({ present, wanted }: Pick<Left, 'present' | 'wanted'>): void {
  const unkept = [...wanted.ipset.difference(present.ipset)].filter((line) => KEEPS_LOCAL.test(line));
  const exempted = [...present.ipset.difference(wanted.ipset)].filter((line) => EXEMPTS.test(line));
  for (const line of wanted.ipvs.difference(present.ipvs)) {
    const [, server] = /^-a (\S+ \S+) /.exec(line) ?? [];
    const stands = server !== undefined && [...present.ipvs].some((each) => each.startsWith(`-A ${server} `));
    const isFrozen = [...unkept, ...exempted].some((entry) => isOfEntry(entry.split(' ').at(-1) ?? '', line));
    if (stands && !isFrozen) throw new Error(`a virtual server that stands lacks: ${line}`);
  }
}

const KEEPS_LOCAL = /-NO-LOCAL /;
const EXEMPTS = /LOAD-BALANCER-LOCAL |NODE-PORT-LOCAL-/;

/** The line of a script was about the thing. */
function isAbout(line: string, thing: Refused): boolean {
  const { change } = thing;
  const command = (added: string, edited: string, deleted: string) =>
    change === undefined ? added : change === 'edit' ? edited : deleted;
  switch (thing.kind) {
    case 'virtual-server':
      return `${line} `.startsWith(`-${command('A', 'E', 'D')} ${inTool(thing.server)} `);
    case 'real-server':
      return `${line} `.startsWith(`-${command('a', 'e', 'd')} ${inTool(thing.server)} -r ${thing.real} `);
    case 'address':
      return line.startsWith(`address ${command('replace', '', 'delete')} ${thing.address}/`);
    case 'set':
      return line === `destroy ${thing.set}`;
    default: {
      const names = [thing.set, 'KUBE-EXCHANGE', 'KUBE-6-EXCHANGE'];
      return names.some((name) => line === `${command('add', '', 'del')} ${name} ${numbered(thing.entry)}`);
    }
  }
}

/** Because of the thing, the line of the kernel's state is missing. */
function explains(thing: Refused, line: string, wanted: KernelLines): boolean {
  switch (thing.kind) {
    case 'virtual-server': {
      const server = inTool(thing.server);
      return line.startsWith(`-A ${server} `) || line.startsWith(`-a ${server} `) || line === `bound ${hostOf(server)}`;
    }
    case 'real-server':
      return line.startsWith(`-a ${inTool(thing.server)} -r ${thing.real} `);
    case 'address':
      return line === `bound ${thing.address}`;
    case 'set':
      return false;
    default: {
      const isItself = line === `add ${thing.set} ${thing.entry}` || line === `bound ${thing.entry}`;
      const isUnbound = !wanted.addresses.has(`bound ${thing.entry.split(',')[0]}`);
      const isNeeded = GUARDS.test(thing.set) || (isUnbound && LEDGER.test(thing.set));
      return isItself || (isNeeded && isOfEntry(thing.entry, line));
    }
  }
}

/** Without these, or with what they were to lose, a frontend is not served in full. */
const GUARDS = /LOAD-BALANCER-FW$|-NO-LOCAL$|LOAD-BALANCER-LOCAL$|NODE-PORT-LOCAL-/;

/** Nothing else tells whose a frontend is at an address that is not bound. */
const LEDGER = /(?:EXTERNAL-IP|EXTERNAL-IP-LOCAL|LOAD-BALANCER|NODE-PORT-\w+(?:-HASH)?)$/;

/** Because of the thing, the line of the kernel's state is still there. */
function explainsSurplus(thing: Refused, line: string): boolean {
  switch (thing.kind) {
    case 'virtual-server':
    case 'real-server': {
      const server = inTool(thing.server);
      return thing.change !== undefined && isOfServer(server, line);
    }
    case 'address':
      return (
        thing.change !== undefined && (line === `bound ${thing.address}` || line.endsWith(`IPVS-IPS ${thing.address}`))
      );
    case 'set':
      return line.split(' ')[1] === thing.set;
    default: {
      const [command, set = '', entry = ''] = line.split(' ');
      const isOpening = thing.set.endsWith('LOAD-BALANCER-FW') && entry.startsWith(`${thing.entry},`);
      return command === 'add' && (entry === thing.entry ? thing.change !== undefined || PORTALS.test(set) : isOpening);
    }
  }
}

/** A frontend that stands keeps the old one of these where a new one is refused. */
const PORTALS = /(?:CLUSTER-IP|EXTERNAL-IP|EXTERNAL-IP-LOCAL|LOAD-BALANCER)$/;

/** The virtual server, one of its real servers, its address, or an entry that tells whose it is. */
function isOfServer(server: string, line: string): boolean {
  const [flag = ''] = server.split(' ');
  const protocol = Object.entries(FLAGS)
    .find(([, each]) => each === flag)?.[0]
    ?.toLowerCase();
  const port = server.slice(server.lastIndexOf(':') + 1);
  const entries = [`${hostOf(server)},${protocol}:${port}`, port, hostOf(server)];
  return (
    line.startsWith(`-A ${server} `) ||
    line.startsWith(`-a ${server} `) ||
    line === `bound ${hostOf(server)}` ||
    entries.some((entry) => line.startsWith('add ') && line.endsWith(` ${entry}`))
  );
}

/** A virtual server of `172.20.1.1,tcp:80` or of node port `30080`, one of its real servers, or its address. */
function isOfEntry(entry: string, line: string): boolean {
  if (/^\d+$/.test(entry)) return new RegExp(`^-[Aa] \\S+ \\S+:${entry} `).test(line);
  const [address = '', protocol = '', port = ''] = entry.split(/,|:(?=\d+$)/);
  const server = inTool(`${protocol.toUpperCase()} ${address.includes(':') ? `[${address}]` : address}:${port}`);
  return line.startsWith(`-A ${server} `) || line.startsWith(`-a ${server} `) || line === `bound ${address}`;
}

/** `-t [fd00::1]:80` → `fd00::1` */
function hostOf(server: string): string {
  return server.slice(server.indexOf(' ') + 1, server.lastIndexOf(':')).replace(/[[\]]/g, '');
}

/** `TCP 172.20.1.1:80` → `-t 172.20.1.1:80` */
function inTool(server: string): string {
  const [protocol = '', address = ''] = server.split(' ');
  return `${FLAGS[protocol]} ${address}`;
}

const FLAGS: Readonly<Record<string, string>> = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' };
