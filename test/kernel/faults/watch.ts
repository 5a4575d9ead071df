import type { Tool } from '../../../src/apply/tool.ts';
import type { MemoryKernel } from '../memory-kernel.ts';
import { preventsExchange, standInsOf } from './exchange.ts';
import { FOREIGN_ADDRESS } from './foreign.ts';
import { type KernelLines, kernelLines, linesOf, SECTIONS, type Section } from './kernel-lines.ts';
import { numbered } from './others.ts';

/**
 * Looks at a kernel after every call of a tool during a pass, and throws at the first thing that must not be:
 *
 * - What stood when the pass began and is wanted is gone, has another weight or other properties. So a Service that neither a change nor a
 *   fault has touched is right all along, and nothing of others is touched, which counts as wanted. An address stands with one of its
 *   virtual servers at least.
 * - A wanted real server of a virtual server that stands is gone or has weight 0, or one of TCP with connections is gone.
 * - A virtual server has come before its rules and set entries, or an address before its virtual servers. At an address that is bound
 *   already it comes empty, and its real servers come after what guards it; all others are refused there without its entries.
 * - An address is bound that has no virtual server, nor is to have one; but for one that the kernel was made not to let go of.
 */
export class Watch {
  readonly #kernel: MemoryKernel;
  readonly #refusedLines: ReadonlySet<string>;
  #wanted: KernelLines;
  #before: KernelLines;
  #standing: KernelLines;
  #present: KernelLines;
  #working: ReadonlySet<string> = new Set();
  #busy: readonly string[] = [];
  #orphans: ReadonlySet<string> = new Set();
  /** Virtual servers that have come empty. */
  #empty: ReadonlySet<string> = new Set();

  /** `refusedLines`: of scripts, as far as tools were made to refuse them; live. */
  constructor(kernel: MemoryKernel, refusedLines: ReadonlySet<string>) {
    this.#kernel = kernel;
    this.#refusedLines = refusedLines;
    this.#present = kernelLines(kernel);
    [this.#wanted, this.#before, this.#standing] = [this.#present, this.#present, this.#present];
  }

  /** A pass begins that leads to what is wanted. `busy`: real servers with connections, as `-t 172.20.1.1:80 -r 10.180.0.1:8080`. */
  begin(wanted: KernelLines, busy: readonly string[]): void {
    const present = kernelLines(this.#kernel);
    this.#wanted = wanted;
    this.#before = present;
    this.#present = present;
    this.#standing = standingOf(present, wanted);
    this.#working = workingReals(present).intersection(workingReals(wanted));
    this.#busy = busy.filter((real) => {
      const [server = ''] = real.split(' -r ');
      return server.startsWith('-t') && hasLine(wanted.ipvs, `-A ${server} `) && hasLine(present.ipvs, `-a ${real} `);
    });
    this.#orphans = orphansOf(present);
    this.#empty = new Set();
  }

  /** A call of the tool has ended. */
  look(tool: Tool): void {
    const section = SECTION_OF[tool];
    if (section === undefined) return;
    const before = this.#present;
    const now = linesOf(section, this.#kernel);
    this.#present = { ...before, [section]: now };
    for (const line of this.#standing[section]) if (!now.has(line)) throw new Error(`it took away: ${line}`);
    if (section === 'ipvs') this.#lookAtReals();
    if (section === 'ipvs' || section === 'addresses') this.#lookAtOrphans();
    if (section === 'ipvs') this.#lookAtNew(serversOf(now).difference(serversOf(before.ipvs)));
    if (section === 'addresses') for (const line of now.difference(before.addresses)) this.#addressCame(line);
  }

  #lookAtReals(): void {
    const working = workingReals(this.#present);
    for (const real of this.#working) if (!working.has(real)) throw new Error(`it ended a wanted real server: ${real}`);
    for (const real of this.#busy) {
      if (!hasLine(this.#present.ipvs, `-a ${real} `)) throw new Error(`it cut connections of ${real}`);
    }
  }

  #lookAtOrphans(): void {
    const lacking = new Set([...this.#wanted.ipvs.difference(this.#present.ipvs)].map(addressOf));
    for (const address of orphansOf(this.#present)) {
      if (this.#orphans.has(address) || lacking.has(address) || this.#isHeld(address)) continue;
      throw new Error(`${address} is bound without any virtual server`);
    }
  }

  #lookAtNew(servers: ReadonlySet<string>): void {
    const { ipvs, addresses } = this.#present;
    const mayBeEmpty = (server: string) =>
      this.#empty.has(server) || addresses.has(`bound ${addressOf(`-A ${server}`)}`);
    const isEmpty = (server: string) => mayBeEmpty(server) && !hasLine(ipvs, `-a ${server} `);
    const come = [...servers.union(this.#empty.intersection(serversOf(ipvs)))];
    for (const server of come) if (!isEmpty(server)) this.#serverCame(server, this.#empty.has(server));
    this.#empty = new Set(come.filter(isEmpty));
  }

  /** The one exception are entries that the kernel refuses, but for those that guard. */
  #serverCame(server: string, hasComeEmpty: boolean): void {
    const address = addressOf(`-A ${server}`);
    const key = ` ${entryOf(server)}`;
    for (const line of this.#wanted.ipset.difference(this.#present.ipset)) {
      const isOfIt = line.endsWith(key) || line.includes(`${key},`);
      const isPassedOver = this.#isRefused(line)
        ? !GUARD.test(line)
        : EXEMPTION.test(line) || (this.#mayBeFull(line) && !GUARD.test(line));
      if (!isOfIt || isPassedOver || (hasComeEmpty && !GUARD.test(line))) continue;
      throw new Error(`virtual server ${server} came before: ${line}`);
    }
    this.#rulesBefore(`virtual server ${server}`, address, (rule) => !hasComeEmpty || this.#isGuardedBy(rule, key));
  }

  #addressCame(line: string): void {
    const address = line.replace('bound ', '');
    for (const server of serversOf(this.#wanted.ipvs).difference(serversOf(this.#present.ipvs))) {
      if (addressOf(`-A ${server}`) !== address || this.#isLeftOut(server)) continue;
      throw new Error(`address ${address} came before virtual server ${server}`);
    }
    const guard = `add KUBE-${address.includes(':') ? '6-' : ''}IPVS-IPS ${address}`;
    if (!this.#present.ipset.has(guard)) throw new Error(`address ${address} came before: ${guard}`);
    this.#rulesBefore(`address ${address}`, address, () => true);
  }

  /**
   * It keeps clients out of a frontend, or brings answers back to them, by a set that is to have its entry. Answers come back where another
   * rule masquerades for the set, unless it does so for the node alone.
   */
  #isGuardedBy(rule: string, key: string): boolean {
    const [, set] = GUARDING.exec(rule) ?? [];
    if (!this.#wanted.ipset.has(`add ${set}${key}`)) return false;
    if (!MASQUERADING.test(rule)) return true;
    const rules = [...this.#present.IPv4, ...this.#present.IPv6];
    return !rules.some((other) => MASQUERADING.test(other) && other.includes(` --match-set ${set} dst`));
  }

  #rulesBefore(what: string, address: string, isNeeded: (rule: string) => boolean): void {
    const family = address.includes(':') ? 'IPv6' : 'IPv4';
    for (const line of this.#wanted[family].difference(this.#present[family])) {
      if (!isNeeded(line) || this.#lacksSet(/--match-set (\S+) /.exec(line)?.[1])) continue;
      throw new Error(`${what} came before: ${line}`);
    }
  }

  /** It was refused, or what keeps clients out of it was. */
  #isLeftOut(server: string): boolean {
    const entry = ` ${entryOf(server)}`;
    const isRefused = [...this.#refusedLines].some((line) => line.startsWith(`-A ${server} `));
    return (
      isRefused ||
      [...this.#wanted.ipset].some(
        (line) => GUARD.test(line) && line.endsWith(entry) && (this.#isRefused(line) || this.#mayBeFull(line)),
      )
    );
  }

  #isHeld(address: string): boolean {
    return [...this.#refusedLines].some((line) => line.startsWith(`address delete ${address}/`));
  }

  /** An entry, or its whole set. */
  #isRefused(line: string): boolean {
    const [, set = '', entry = ''] = line.split(' ');
    const names = [set, ...standInsOf(set)];
    return this.#lacksSet(set) || names.some((name) => this.#refusedLines.has(`add ${name} ${numbered(entry)}`));
  }

  /** The set of an entry could not be made large enough. */
  #mayBeFull(line: string): boolean {
    const [, set = ''] = line.split(' ');
    const entries = this.#wanted.ipset.union(this.#before.ipset).union(this.#present.ipset);
    return [...this.#refusedLines].some((refused) => preventsExchange(refused, set, entries));
  }

  #lacksSet(set: string | undefined): boolean {
    return [...this.#refusedLines].some((each) => each.startsWith(`create ${set} `));
  }
}

const SECTION_OF: Readonly<Partial<Record<Tool, Section>>> = {
  ipvsadm: 'ipvs',
  ipset: 'ipset',
  ip: 'addresses',
  'iptables-restore': 'IPv4',
  'ip6tables-restore': 'IPv6',
};

/** Entries that node ports at several addresses have in common come after all else where one of these stands, even for a new one. */
const EXEMPTION = /NODE-PORT-LOCAL-(TCP|UDP) /;
/** Sets whose entries keep somebody out, or tell endpoints who calls. */
const GUARD = /LOAD-BALANCER-FW |-NO-LOCAL |LOAD-BALANCER-LOCAL |NODE-PORT-LOCAL-/;
const GUARDING = /--match-set (\S+) .*-j (DROP|KUBE-MARK-MASQ|KUBE-SOURCE-RANGES-FIREWALL|KUBE-LOAD-BALANCER)$/;
const PORTAL = /^add KUBE-(?:6-)?(?:CLUSTER-IP|EXTERNAL-IP|EXTERNAL-IP-LOCAL|LOAD-BALANCER) /;
const MASQUERADING = / -j (KUBE-MARK-MASQ|KUBE-LOAD-BALANCER)$/;
const PROTOCOLS: Readonly<Record<string, string>> = { '-t': 'tcp', '-u': 'udp', '--sctp-service': 'sctp' };

/** What is wanted and there already. What lets clients past the filter to no virtual server does not count: it may go until that comes. */
function standingOf(present: KernelLines, wanted: KernelLines): KernelLines {
  const common = SECTIONS.map((section) => [section, present[section].intersection(wanted[section])]);
  const lines = Object.fromEntries(common) as KernelLines;
  const servers = serversOf(present.ipvs).intersection(serversOf(wanted.ipvs));
  const served = [...servers].map((server) => `bound ${addressOf(`-A ${server}`)}`);
  const portals = new Set([...serversOf(present.ipvs)].map(entryOf));
  return {
    ...lines,
    ipset: new Set([...lines.ipset].filter((line) => !PORTAL.test(line) || portals.has(line.split(' ')[2] ?? ''))),
    addresses: lines.addresses.intersection(new Set([...served, `bound ${FOREIGN_ADDRESS}`])),
  };
}

/** `-t 172.20.1.1:80` for each. */
function serversOf(lines: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...lines].flatMap((line) => (line.startsWith('-A ') ? line.split(' ', 3).slice(1).join(' ') : [])));
}

/** `-t 172.20.1.1:80 -r 10.180.0.1:8080` for each with a weight that is not 0. */
function workingReals({ ipvs }: KernelLines): ReadonlySet<string> {
  return new Set([...ipvs].flatMap((line) => /^-a (.*) -m -w [1-9]/.exec(line)?.[1] ?? []));
}

/** `-t 172.20.1.1:80` → `172.20.1.1,tcp:80` */
function entryOf(server: string): string {
  const [flag = ''] = server.split(' ');
  return `${addressOf(`-A ${server}`)},${PROTOCOLS[flag]}:${server.slice(server.lastIndexOf(':') + 1)}`;
}

function hasLine(lines: ReadonlySet<string>, start: string): boolean {
  return [...lines].some((line) => line.startsWith(start));
}

/** Bound addresses without any virtual server. */
function orphansOf({ ipvs, addresses }: KernelLines): ReadonlySet<string> {
  const served = new Set([...ipvs].map(addressOf));
  const bound = [...addresses].map((line) => line.replace('bound ', ''));
  return new Set(bound.filter((address) => address !== FOREIGN_ADDRESS && !served.has(address)));
}

/** Of `-A -t [fd00::1]:80 …`; `''` for real servers. */
function addressOf(line: string): string {
  const [command, , server = ''] = line.split(' ', 3);
  return command === '-A' ? server.slice(0, server.lastIndexOf(':')).replace(/[[\]]/g, '') : '';
}
