import type { SetEntry } from '../../../src/kernel/ipset/state.ts';
import { FAMILIES } from '../../../src/net/family.ts';
import { describeRefused, type Refused } from '../../../src/plan/refused.ts';
import type { PassReport } from '../../../src/sync/proxier.ts';
import { preventsExchange, standInsOf } from './exchange.ts';
import { difference, type KernelLines } from './kernel-lines.ts';
import { numbered } from './others.ts';

/** What a pass has left. */
export interface Left {
  /** What there was when it began. */
  readonly before: KernelLines;
  readonly present: KernelLines;
  readonly wanted: KernelLines;
  /** Lines of scripts that a tool was made to refuse. */
  readonly refusedLines: ReadonlySet<string>;
}

/**
 * Throws unless the report tells why something is not as wanted: by an error, or as what the kernel did not take. Nothing may be said to be
 * refused that was not, for a Service would be blamed for it.
 */
export function checkReport(report: PassReport, { before, present, wanted, refusedLines }: Left): void {
  const entries = wanted.ipset.union(present.ipset).union(before.ipset);
  for (const { refused } of [...report.refusals, ...report.families.flatMap(({ leftovers }) => leftovers)]) {
    if (![...refusedLines].some((line) => isAbout(line, refused, entries))) {
      throw new Error(`it is blamed without having been refused: ${describeRefused(refused)}`);
    }
  }
  if (report.errors.length > 0) return;
  const refused = report.families.flatMap((family) => family.refused);
  const isExplained = (line: string) => refused.some((thing) => explains(thing, line, wanted));
  const missing = difference(wanted, present).filter(
    (line) => !isExplained(line) && !ledgerOf(line, wanted)?.every(isExplained),
  );
  if (missing.length > 0) throw new Error(`nothing is said of what is missing: ${missing.slice(0, 5).join('; ')}`);
  const surplus = difference(present, wanted).filter(
    (line) =>
      !/^-a -t .* -w 0$/.test(line) &&
      !isUnused(line, wanted) &&
      !refused.some((thing) => explainsSurplus(thing, line, wanted)),
  );
  if (surplus.length > 0) throw new Error(`nothing is said of what is left: ${surplus.slice(0, 5).join('; ')}`);
  checkRefusals(present, wanted);
}

/** Rules refuse new clients of what would send them to nobody but real servers that were to go, and of nothing else. */
function checkRefusals(present: KernelLines, wanted: KernelLines): void {
  const serving = [...present.ipvs].filter((line) => SERVING.test(line));
  const wantedReals = new Set([...wanted.ipvs].filter((line) => SERVING.test(line)).map(realOf));
  const served = new Set(serving.filter((line) => wantedReals.has(realOf(line))).map(serverOf));
  const inVain = new Set(serving.map(serverOf).filter((server) => !served.has(server)));
  const rules = FAMILIES.flatMap((family) => [...present[family]].filter((line) => line.includes(' --ctorigdstport ')));
  for (const server of inVain) {
    if (!rules.some((rule) => refusesAt(server, rule))) throw new Error(`clients are served in vain: ${server}`);
  }
  const wrong = rules.find((rule) => ![...inVain].some((server) => refusesAt(server, rule)));
  if (wrong !== undefined) throw new Error(`clients are refused who would be served: ${wrong}`);
}

const SERVING = /^-a .* -w [1-9]\d*$/;

/** `-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1` → `-t 172.20.1.1:80` */
function serverOf(line: string): string {
  return line.split(' ').slice(1, 3).join(' ');
}

/** The same without forwarding and weight. */
function realOf(line: string): string {
  return line.split(' ').slice(0, 5).join(' ');
}

/** The rule refuses what is new to the virtual server. */
function refusesAt(server: string, rule: string): boolean {
  const port = server.slice(server.lastIndexOf(':') + 1);
  const isThere = rule.includes(` -d ${hostOf(server)}/`) && rule.includes(` -p ${protocolOf(server)} `);
  return isThere && rule.includes(` --ctorigdstport ${port} -j REJECT `);
}

/** A real server of weight 0 that is wanted with another weight, which is missing then; a frozen one is not taken back. */
function isUnused(line: string, { ipvs }: KernelLines): boolean {
  const [, real] = /^(-a .* -w )0$/.exec(line) ?? [];
  return real !== undefined && [...ipvs].some((each) => each.startsWith(real));
}

/**
 * Virtual servers that were wanted and stood have their real servers, whatever it was that did not work besides `ipvsadm`; but for those
 * that nothing keeps clients outside from, or whose answers would not come back, as an entry lacks or the rule that uses it; and those that
 * are to be closed to the node itself, which takes a rule and an address.
 */
export function checkRollouts({ present, wanted }: Pick<Left, 'present' | 'wanted'>): void {
  const rules = FAMILIES.flatMap((family) => [...wanted[family].difference(present[family])]);
  const unused = rules.flatMap((rule) => / --match-set (\S+) .* -j (?!ACCEPT|RETURN|REJECT)/.exec(rule)?.[1] ?? []);
  const isOfUnused = (line: string) => unused.some((set) => line.startsWith(`add ${set} `));
  const unkept = [...wanted.ipset].filter(
    (line) => NEEDED.test(line) && (isOfUnused(line) || !present.ipset.has(line)),
  );
  const exempted = [...present.ipset.difference(wanted.ipset)].filter((line) => EXEMPTS.test(line));
  for (const line of wanted.ipvs.difference(present.ipvs)) {
    const [, server] = /^-a (\S+ \S+) /.exec(line) ?? [];
    const stands = server !== undefined && [...present.ipvs].some((each) => each.startsWith(`-A ${server} `));
    const isFrozen = [...unkept, ...exempted].some((entry) => isOfEntry(entry.split(' ').at(-1) ?? '', line));
    const [host = ''] = server === undefined ? [] : [hostOf(server)];
    const mayBeOpen = !present.addresses.has(`bound ${host}`) || !isClosedToNode(host, line, present);
    const isKeptFromNode = isClosedToNode(host, line, wanted) && mayBeOpen;
    if (stands && !isFrozen && !isKeptFromNode) throw new Error(`a virtual server that stands lacks: ${line}`);
  }
}

const NEEDED =
  /-(NO-LOCAL|FW|CLUSTER-IP|EXTERNAL-IP|EXTERNAL-IP-LOCAL|LOAD-BALANCER|NODE-PORT-TCP|NODE-PORT-UDP|NODE-PORT-SCTP-HASH) /;
const EXEMPTS = /LOAD-BALANCER-LOCAL |NODE-PORT-LOCAL-/;

/** The line of a script was about the thing. */
function isAbout(line: string, thing: Refused, entries: ReadonlySet<string>): boolean {
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
      if (change === 'edit') return preventsExchange(line, thing.set, entries);
      return line === `destroy ${thing.set}` || (change === undefined && line.startsWith(`create ${thing.set} `));
    default: {
      const names = [thing.set, ...standInsOf(thing.set)];
      const isItself = names.some((name) => line === `${command('add', '', 'del')} ${name} ${numbered(thing.entry)}`);
      return isItself || (change === undefined && preventsExchange(line, thing.set, entries));
    }
  }
}

/** Because of the thing, the line of the kernel's state is missing. */
function explains(thing: Refused, line: string, wanted: KernelLines): boolean {
  switch (thing.kind) {
    case 'virtual-server': {
      const server = inTool(thing.server);
      const isPortal = PORTAL_LINE.test(line) && isOfServer(server, line);
      return (
        isPortal ||
        line.startsWith(`-A ${server} `) ||
        line.startsWith(`-a ${server} `) ||
        line === `bound ${hostOf(server)}`
      );
    }
    case 'real-server':
      return line.startsWith(`-a ${inTool(thing.server)} -r ${thing.real} `);
    case 'address':
      return line === `bound ${thing.address}` || isClosedToNode(thing.address, line, wanted);
    case 'set': {
      if (thing.change !== undefined) return false;
      const isItself = line.startsWith(`create ${thing.set} `) || line.includes(` --match-set ${thing.set} `);
      return isItself || entriesOf(thing, wanted).some((entry) => explains(entry, line, wanted));
    }
    default: {
      const isItself = line === `add ${thing.set} ${thing.entry}` || line === `bound ${thing.entry}`;
      const isPortal = PORTAL_LINE.test(line) && line.endsWith(` ${thing.entry}`);
      if (thing.set.endsWith('-IPVS-IPS') && isClosedToNode(thing.entry, line, wanted)) return true;
      const isUnbound = !wanted.addresses.has(`bound ${thing.entry.split(',')[0]}`);
      const isNeeded = GUARDS.test(thing.set) || (isUnbound && LEDGER.test(thing.set));
      const isServing = PORTALS.test(thing.set) && line.startsWith('-a ');
      const isStuck = thing.change && PORTALS.test(thing.set) && isLeftUnbound(thing.entry, line, wanted);
      return isItself || isStuck || ((isNeeded || isServing) && isOfEntry(thing.entry, line)) || (isNeeded && isPortal);
    }
  }
}

/** An address does not come as long as its old entry lets clients past the filter, to no virtual server. */
function isLeftUnbound(entry: string, line: string, wanted: KernelLines): boolean {
  const [address = ''] = entry.split(',');
  return line === `bound ${address}` || isClosedToNode(address, line, wanted);
}

/** A real server of a frontend that is closed to the node itself, which its address tells. */
function isClosedToNode(address: string, line: string, { IPv4, IPv6 }: KernelLines): boolean {
  const [, flag = '', server = ''] = /^-a (\S+) (\S+) /.exec(line) ?? [];
  const [host, port] = [hostOf(` ${server}`), server.slice(server.lastIndexOf(':') + 1)];
  const frontend = `--vproto ${NUMBERS[flag]} --vaddr ${address} --vport ${port} -j DROP`;
  return host === address && [...IPv4, ...IPv6].some((rule) => rule.includes(frontend));
}

/** What is wanted in a set that is refused, as if it were refused entry by entry. */
function entriesOf({ set }: { readonly set: string }, { ipset }: KernelLines): readonly Refused[] {
  const start = `add ${set} `;
  return [...ipset].flatMap((line) =>
    line.startsWith(start) ? [{ kind: 'set-entry', set, entry: line.slice(start.length) as SetEntry } as const] : [],
  );
}

/** They let clients past the filter; what is left out gets none. */
const PORTAL_LINE = /^add KUBE-(?:6-)?(?:CLUSTER-IP|EXTERNAL-IP|EXTERNAL-IP-LOCAL|LOAD-BALANCER) /;

/** Without these, or with what they were to lose, a frontend is not served in full. */
const GUARDS = /LOAD-BALANCER-FW$|-NO-LOCAL$|LOAD-BALANCER-LOCAL$|NODE-PORT-LOCAL-/;

/** Entries that tell whose a virtual server is, or that of a real server; one is enough. `undefined` for other lines. */
function ledgerOf(line: string, { ipset }: KernelLines): readonly string[] | undefined {
  const [, server] = /^-[Aa] (\S+ \S+) /.exec(line) ?? [];
  if (server === undefined) return undefined;
  const entries = [...ipset].filter((entry) => LEDGER_OF_ALL.test(entry) && isOfServer(server, entry));
  return entries.length > 0 ? entries : undefined;
}

const LEDGER_OF_ALL = /^add KUBE-(?:6-)?(?:IPVS-IPS|CLUSTER-IP|EXTERNAL-IP|EXTERNAL-IP-LOCAL|LOAD-BALANCER) /;

/** Nothing else tells whose a frontend is at an address that is not bound. */
const LEDGER = /(?:EXTERNAL-IP|EXTERNAL-IP-LOCAL|LOAD-BALANCER|NODE-PORT-\w+(?:-HASH)?)$/;

/**
 * Because of the thing, the line of the kernel's state is still there. A real server that does not go has weight 0, unless that was refused
 * too.
 */
function explainsSurplus(thing: Refused, line: string, wanted: KernelLines): boolean {
  switch (thing.kind) {
    case 'virtual-server':
    case 'real-server': {
      const server = inTool(thing.server);
      const isUnchanged = thing.kind === 'real-server' && thing.change === 'edit';
      if (SERVING.test(line)) return isUnchanged && line.startsWith(`-a ${server} -r ${thing.real} `);
      if (refusesAt(server, line)) return isUnchanged;
      return thing.change !== undefined && isOfServer(server, line);
    }
    case 'address':
      return (
        thing.change !== undefined && (line === `bound ${thing.address}` || line.endsWith(`IPVS-IPS ${thing.address}`))
      );
    case 'set': {
      const isItself = thing.change !== 'edit' && line.split(' ')[1] === thing.set;
      const entries = thing.change === undefined ? entriesOf(thing, wanted) : [];
      return isItself || entries.some((entry) => explainsSurplus(entry, line, wanted));
    }
    default: {
      const [command, set = '', entry = ''] = line.split(' ');
      const isOpening = thing.set.endsWith('LOAD-BALANCER-FW') && entry.startsWith(`${thing.entry},`);
      if (thing.change && PORTALS.test(thing.set) && isKeptEmpty(thing.entry, line)) return true;
      return command === 'add' && (entry === thing.entry ? thing.change !== undefined || PORTALS.test(set) : isOpening);
    }
  }
}

/** A virtual server whose entry does not go keeps its address, and nobody is served. */
function isKeptEmpty(entry: string, line: string): boolean {
  const isAddress = line.endsWith(`IPVS-IPS ${entry.split(',')[0]}`);
  return isAddress || (!line.startsWith('-a ') && isOfEntry(entry, line));
}

/** Without these a frontend gets no endpoints. One that stands keeps the old one of them where a new one is refused. */
const PORTALS = /(?:CLUSTER-IP|EXTERNAL-IP|EXTERNAL-IP-LOCAL|LOAD-BALANCER)$/;

/** The virtual server, one of its real servers, its address, or an entry that tells whose it is. */
function isOfServer(server: string, line: string): boolean {
  const protocol = protocolOf(server);
  const port = server.slice(server.lastIndexOf(':') + 1);
  const frontend = `${hostOf(server)},${protocol}:${port}`;
  const entries = [frontend, port, hostOf(server)];
  return (
    line.startsWith(`-A ${server} `) ||
    line.startsWith(`-a ${server} `) ||
    line === `bound ${hostOf(server)}` ||
    (line.startsWith('add ') && (line.includes(` ${frontend},`) || entries.some((entry) => line.endsWith(` ${entry}`))))
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

/** `-t 172.20.1.1:80` → `tcp` */
function protocolOf(server: string): string | undefined {
  const [flag = ''] = server.split(' ');
  const [protocol] = Object.entries(FLAGS).find(([, each]) => each === flag) ?? [];
  return protocol?.toLowerCase();
}

/** `TCP 172.20.1.1:80` → `-t 172.20.1.1:80` */
function inTool(server: string): string {
  const [protocol = '', address = ''] = server.split(' ');
  return `${FLAGS[protocol]} ${address}`;
}

const NUMBERS: Readonly<Record<string, number>> = { '-t': 6, '-u': 17, '--sctp-service': 132 };
const FLAGS: Readonly<Record<string, string>> = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' };
