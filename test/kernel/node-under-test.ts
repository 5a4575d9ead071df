import { expect } from 'chai';
import type { Host } from '../../src/apply/host.ts';
import { Kernel } from '../../src/apply/kernel.ts';
import type { ProxySettings } from '../../src/desired/settings.ts';
import { type ClusterObjects, decodeObjects } from '../../src/kube/cluster-objects.ts';
import type { ServiceName } from '../../src/model/names.ts';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import { type DrainingSettings, type PassKind, type PassReport, Proxier } from '../../src/sync/proxier.ts';
import { settings as defaultSettings } from '../builders/objects.ts';
import { parseSets } from '../lab/kernel-state.ts';
import type { ObjectJson } from './cluster-objects.ts';
import { type Links, type MemoryKernel, memoryKernel } from './memory-kernel.ts';
import { recordCluster } from './record-cluster.ts';
import { endDrains } from './run-case.ts';

/** Addresses of node-a where a test names none. */
export const LINKS: Links = {
  lo: ['127.0.0.1/8', '::1/128'],
  eth0: ['192.168.0.10/24', 'fd00:168::10/64', 'fe80::10/64'],
};

export interface NodeSketch {
  readonly links?: Links;
  readonly settings?: Partial<ProxySettings>;
  readonly draining?: DrainingSettings;
  readonly families?: readonly Family[];
  readonly name?: string;
  /** What stands between the program and the kernel. */
  readonly host?: (kernel: MemoryKernel) => Host;
}

/** `node-a`, unless it has another name, on a kernel in memory. It learns of a cluster as the daemon does: objects are decoded, changes recorded, passes made. */
export class NodeUnderTest {
  readonly kernel: MemoryKernel;
  readonly #clock = { ms: 0 };
  readonly #given: NodeSketch;
  readonly #host: Host;
  #settings: ProxySettings;
  #held: Kernel;
  #proxier: Proxier;
  #known: ClusterObjects = decodeObjects([]);

  constructor(given: NodeSketch = {}) {
    this.#given = given;
    this.kernel = memoryKernel(given.links ?? LINKS);
    this.#host = given.host?.(this.kernel) ?? this.kernel;
    this.#settings = defaultSettings(given.settings);
    this.#held = this.#newKernel();
    this.#proxier = this.#start();
  }

  /** Makes the cluster consist of these objects and passes; throws when something of the pass fails. */
  async apply(objects: readonly ObjectJson[], kind: PassKind = 'normal'): Promise<PassReport> {
    this.record(objects);
    return this.pass(kind);
  }

  get settings(): ProxySettings {
    return this.#settings;
  }

  /** What the program takes the kernel to hold. */
  get held(): Pick<Kernel, 'known'> {
    return this.#held;
  }

  record(objects: readonly ObjectJson[]): void {
    const after = decodeObjects(objects);
    recordCluster(this.#proxier.record, this.#known, after, this.#name);
    this.#known = after;
  }

  get nowMs(): number {
    return this.#clock.ms;
  }

  /** Moves its clock on. */
  wait(ms: number): void {
    this.#clock.ms += ms;
  }

  /** One pass and nothing else, whatever comes of it. */
  passOnce(kind: PassKind = 'normal'): Promise<PassReport> {
    return this.#proxier.pass(kind, ['test']);
  }

  /** Also ends what drains without connections, as the daemon does a second later. */
  async pass(kind: PassKind = 'normal'): Promise<PassReport> {
    const report = await this.tryPass(kind);
    expect(report.errors, `errors of the ${kind} pass`).to.deep.equal([]);
    await endDrains(this.#proxier, report, this.#clock);
    return report;
  }

  /** One pass, whatever becomes of it. `isTried`: as of the daemon, which lets Services wait that were refused something. */
  tryPass(kind: PassKind, isTried?: (service: ServiceName) => boolean): Promise<PassReport> {
    return this.#proxier.pass(kind, ['test'], isTried);
  }

  /** What others have done since the last pass, as the daemon sees it every few seconds. */
  async drift(): Promise<readonly string[]> {
    const found = await this.#proxier.findDrift();
    if (!found.ok) throw new Error(found.error.message);
    return found.value;
  }

  /** A new process on the same kernel, which knows nothing yet; its settings are those of the last one unless given. */
  restart(settings: ProxySettings = this.#settings): void {
    this.#settings = settings;
    this.#known = decodeObjects([]);
    this.#held = this.#newKernel();
    this.#proxier = this.#start();
  }

  /** Lines of `ipvsadm -Sn`, sorted. */
  ipvs(): readonly string[] {
    return this.kernel.ipvs.save().split('\n').filter(Boolean).sort();
  }

  /** Addresses on kube-ipvs0, sorted. */
  bound(): readonly string[] {
    return this.kernel.addresses.addresses('kube-ipvs0').sort();
  }

  /** Entries of a set, sorted; `undefined` for one that is not there. */
  set(name: string): readonly string[] | undefined {
    return parseSets(this.kernel.ipsets.save()).get(name);
  }

  /** Rules of a chain in their order, without `-A CHAIN`. */
  rules(table: 'nat' | 'filter', chain: string, family: 'IPv4' | 'IPv6' = 'IPv4'): readonly string[] {
    const text = this.kernel.tables[family].save();
    const start = text.indexOf(`*${table}\n`);
    const lines = text.slice(start, text.indexOf('\nCOMMIT', start)).split('\n');
    const prefix = `-A ${chain} `;
    return lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  }

  /** Scripts that tools were given since the last call, each after the tool's name. */
  takeScripts(): readonly string[] {
    const calls = this.kernel.calls.splice(0);
    return calls.flatMap(({ tool, input }) => (input === undefined ? [] : [`${tool}: ${input}`]));
  }

  get #name(): string {
    return this.#given.name ?? 'node-a';
  }

  #newKernel(): Kernel {
    const { families = FAMILIES } = this.#given;
    return new Kernel(this.#host, families, () => this.#clock.ms);
  }

  #start(): Proxier {
    const { families = FAMILIES, draining } = this.#given;
    return new Proxier({
      families,
      nodeName: this.#name,
      settings: this.#settings,
      ...(draining ? { draining } : {}),
      kernel: this.#held,
      nowMs: () => this.#clock.ms,
    });
  }
}
