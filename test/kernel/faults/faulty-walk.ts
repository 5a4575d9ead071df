import type { ProxySettings } from '../../../src/desired/settings.ts';
import { setName } from '../../../src/kernel/ipset/definitions.ts';
import { FAMILIES } from '../../../src/net/family.ts';
import type { PassReport } from '../../../src/sync/proxier.ts';
import { FLOATING } from '../any-cluster.ts';
import type { ObjectJson } from '../cluster-objects.ts';
import { differingLines, kernelText, programFromScratch } from '../kernel-text.ts';
import { type MemoryKernel, memoryKernel } from '../memory-kernel.ts';
import { LINKS, NodeUnderTest } from '../node-under-test.ts';
import { type FaultyStep, merge } from './any-fault.ts';
import { checkReport, checkRollouts } from './check-report.ts';
import { FaultyHost } from './faulty-host.ts';
import { putForeignRules, putForeignServer } from './foreign.ts';
import { type KernelLines, kernelLines, withoutSizes } from './kernel-lines.ts';
import { disturb } from './others.ts';
import { linesOf } from './script-parts.ts';
import { Watch } from './watch.ts';

interface Wanted {
  readonly objects: readonly ObjectJson[];
  readonly lines: KernelLines;
  readonly text: string;
}

/** A node whose cluster changes while its tools fail. It throws at the first thing that must not be. */
export class FaultyWalk {
  readonly #node: NodeUnderTest;
  readonly #host: FaultyHost;
  readonly #watch: Watch;
  readonly #toleratesForeign: boolean;
  #objects: readonly ObjectJson[] = [];
  #known: Wanted | undefined;
  #isStarted = false;
  #strikes = 0;

  /** `toleratesForeign`: what looks like ours and is not stays. */
  constructor(settings: ProxySettings, toleratesForeign: boolean) {
    const parts: { host?: FaultyHost; watch?: Watch } = {};
    this.#node = new NodeUnderTest({
      settings,
      host: (kernel) => {
        const host = new FaultyHost(kernel, (tool) => this.#watch.look(tool));
        parts.host = host;
        parts.watch = new Watch(kernel, host.refusedLines);
        return host;
      },
    });
    if (!parts.host || !parts.watch) throw new Error('the node has no host');
    [this.#host, this.#watch] = [parts.host, parts.watch];
    this.#toleratesForeign = toleratesForeign;
    putForeignRules(this.#node.kernel);
  }

  /** Faults that have struck so far. */
  get strikes(): number {
    return this.#strikes;
  }

  async play({ change, unchanged, faults, others, more, heldBack }: FaultyStep): Promise<void> {
    const { kernel } = this.#node;
    const busy = this.#connect();
    const moved = this.#moveAddresses(change.floating);
    const isRestart = change.by.kind === 'restart' && !moved;
    if (change.by.kind === 'restart' && isRestart) this.#node.restart(change.by.settings);
    else for (const other of others) disturb(kernel, other);
    const isDisturbed = !isRestart && others.length > 0;
    this.#host.put(faults);
    this.#objects = merge(this.#objects, change.objects, unchanged);
    let report = await this.#faultyPass(
      moved || isDisturbed || change.by.kind === 'full' ? 'full' : 'normal',
      busy,
      true,
    );
    if (more) {
      this.#objects = merge(this.#objects, more, unchanged);
      const failed = report.errors.length > 0;
      report = await this.#faultyPass('normal', busy, !heldBack);
      if (failed && report.kind !== 'full') throw new Error('a normal pass follows an error');
    }
    this.#strikes += this.#host.struck.size;
    this.#host.put([]);
    for (const real of busy) this.#setConnections(real, 0);
    await this.#lastPass(report.errors.length > 0);
  }

  async #faultyPass(kind: 'full' | 'normal', busy: readonly string[], isTried: boolean): Promise<PassReport> {
    const { kernel } = this.#node;
    this.#node.record(this.#objects);
    const { lines: wanted } = this.#wanted();
    const before = kernelLines(kernel);
    this.#watch.begin(wanted, busy);
    const report = await this.#node.tryPass(kind, () => isTried);
    const left = { before, present: kernelLines(kernel), wanted, refusedLines: this.#host.refusedLines };
    checkReport(report, left);
    if (this.#isRefusedLinesOnly() && report.errors.length > 0) {
      throw new Error(`a pass fails as a whole over a line: ${report.errors.map(({ message }) => message).join('; ')}`);
    }
    const places = [...this.#host.struck].map(({ at, how }) => (how.kind === 'missing' ? 'a tool' : at));
    if (places.every((place) => /^(ipset|ip|ip6?tables-restore) writes$/.test(place))) checkRollouts(left);
    return report;
  }

  /** Tools that tell which lines they were refused were refused some, and always the same; a node without any set is another matter. */
  #isRefusedLinesOnly(): boolean {
    const { ipsets } = this.#node.kernel;
    const hasSets = FAMILIES.every((family) => ipsets.has(setName('CLUSTER-IP', family)));
    return (
      hasSets &&
      [...this.#host.struck].every(
        ({ at, how }) =>
          /^(ipvsadm|ipset|ip) writes$/.test(at) && (how.kind === 'refused' || how.kind === 'all-refused'),
      )
    );
  }

  /** Nothing fails any more: one pass must do, and another one find nothing to do. */
  async #lastPass(failed: boolean): Promise<void> {
    const node = this.#node;
    const wanted = this.#wanted();
    this.#watch.begin(wanted.lines, []);
    const report = await node.pass('normal');
    if (failed && report.kind !== 'full') throw new Error('a normal pass follows an error');
    if (report.refusals.length > 0) throw new Error('something is said to be refused');
    const present = withoutSizes(kernelText(node.kernel));
    if (present !== wanted.text) throw new Error(`not as from scratch:\n${differingLines(present, wanted.text)}`);
    node.kernel.skippedInProc.clear();
    node.takeScripts();
    await this.#idlePass(isOfSizes);
    await this.#idlePass(() => false);
    if (!this.#isStarted && this.#toleratesForeign) putForeignServer(node.kernel);
    this.#isStarted = true;
  }

  /** Another full pass, which has nothing to write but what is passed over. */
  async #idlePass(isPassedOver: (script: string) => boolean): Promise<void> {
    await this.#node.pass('full');
    const scripts = this.#node.takeScripts().filter((script) => !isPassedOver(script));
    if (scripts.length > 0) throw new Error(`another full pass writes:\n${scripts.join('')}`);
  }

  /** What a kernel holds that is programmed for nothing but the cluster as it is; the same as long as that is. */
  #wanted(): Wanted {
    if (this.#known?.objects === this.#objects) return this.#known;
    const scratch = this.#scratch();
    this.#known = { objects: this.#objects, lines: kernelLines(scratch), text: withoutSizes(kernelText(scratch)) };
    return this.#known;
  }

  #scratch(): MemoryKernel {
    const floating = this.#hasFloating() ? FLOATING.map(withLength) : [];
    const scratch = memoryKernel({ ...LINKS, eth0: [...(LINKS.eth0 ?? []), ...floating] });
    putForeignRules(scratch);
    programFromScratch(scratch, this.#objects, this.#node.settings);
    if (this.#isStarted && this.#toleratesForeign) putForeignServer(scratch);
    return scratch;
  }

  /** Every second real server has connections for a while. */
  #connect(): readonly string[] {
    const lines = this.#node.kernel.ipvs.save().split('\n');
    const reals = lines.flatMap((line) => /^-a (\S+ \S+ -r \S+) /.exec(line)?.[1] ?? []);
    const busy = reals.filter((_, index) => index % 2 === 1);
    for (const real of busy) this.#setConnections(real, 3);
    return busy;
  }

  #setConnections(real: string, connections: number): void {
    const { ipvs } = this.#node.kernel;
    const [server = '', address = ''] = real.split(' -r ');
    if (ipvs.save().includes(`-a ${real} `)) ipvs.connect(server, address, connections);
  }

  /** True when addresses have come or gone. */
  #moveAddresses(floating: boolean): boolean {
    if (this.#hasFloating() === floating) return false;
    const { addresses } = this.#node.kernel;
    for (const address of FLOATING.map(withLength)) {
      if (floating) addresses.put('eth0', address);
      else addresses.batch(`address delete ${address} dev eth0\n`);
    }
    return true;
  }

  #hasFloating(): boolean {
    return this.#node.kernel.addresses.addresses('eth0').includes(FLOATING[0]);
  }
}

/** A set is made smaller once the pass is over that took entries out of it. */
function isOfSizes(script: string): boolean {
  return script.startsWith('ipset: create ') && linesOf(script).every((line) => line.includes('EXCHANGE'));
}

function withLength(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
