import { expect } from 'chai';
import type { Host } from '../../src/apply/host.ts';
import { Kernel } from '../../src/apply/kernel.ts';
import type { ToolCall } from '../../src/apply/tool.ts';
import { cleanNode } from '../../src/clean-node.ts';
import type { CleanupArguments } from '../../src/cli/arguments.ts';
import type { ProxySettings } from '../../src/desired/settings.ts';
import { decodeObjects } from '../../src/kube/cluster-objects.ts';
import { succeed } from '../../src/model/result.ts';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import { systemClock } from '../../src/queue/clock.ts';
import { type DrainingSettings, type PassReport, Proxier } from '../../src/sync/proxier.ts';
import { cidr } from '../builders/net.ts';
import { settings as settingsWith } from '../builders/objects.ts';
import { recordCluster } from '../kernel/record-cluster.ts';
import type { Lab } from './lab.ts';
import { netnsHost } from './netns-host.ts';
import { node, service, slice } from './objects.ts';
import { type Offer, sketchOf } from './offers.ts';
import { POD_PORT } from './standard-plan.ts';
import { podRanges } from './topology.ts';

export interface QuickNodeOptions {
  /** Takes the place of the node's own. */
  readonly host?: Host;
  readonly settings?: Partial<ProxySettings>;
  readonly draining?: DrainingSettings;
  /** Both unless given. */
  readonly families?: readonly Family[];
}

/** The passes of a daemon on a node of the lab, made by this process: nothing has to start. */
export class QuickNode {
  readonly #lab: Lab;
  readonly #name: string;
  readonly #proxier: Proxier;
  #known = decodeObjects([]);

  constructor(lab: Lab, name: string, given: QuickNodeOptions = {}) {
    this.#lab = lab;
    this.#name = name;
    this.#proxier = new Proxier({
      families: given.families ?? FAMILIES,
      nodeName: name,
      settings: settingsWith({ detectLocal: { kind: 'cluster-cidr', cidrs: CLUSTER_CIDRS }, ...given.settings }),
      ...(given.draining ? { draining: given.draining } : {}),
      kernel: new Kernel(given.host ?? netnsHost(name), given.families ?? FAMILIES, systemClock.nowMs),
      nowMs: systemClock.nowMs,
    });
  }

  /** Makes the cluster consist of these Services and passes; throws when something of the pass fails. */
  async program(...offers: readonly Offer[]): Promise<PassReport> {
    const after = decodeObjects(objectsOf(this.#lab, offers));
    recordCluster(this.#proxier.record, this.#known, after, this.#name);
    this.#known = after;
    const report = await this.#proxier.pass('normal', ['test']);
    expect(report.errors, 'errors of the pass').to.deep.equal([]);
    return report;
  }
}

/** As the daemons of the lab have them. */
const CLUSTER_CIDRS = ['10.180.0.0/16', 'fd00:180::/32'].map(cidr);

/** Brings a node into its first state, but for the settings that a daemon makes before its first pass. */
export async function resetReady(lab: Lab, name: string): Promise<void> {
  await lab.resetNode(name);
  await lab.output(name, 'sysctl', ['-qw', ...SETTINGS]);
}

const SETTINGS = ['conntrack', 'expire_nodest_conn', 'expire_quiescent_template'].map((key) => `net.ipv4.vs.${key}=1`);

function objectsOf(lab: Lab, offers: readonly Offer[]): readonly Record<string, unknown>[] {
  return [
    ...lab.nodes.map((host) => node(host.name, [host.addresses.IPv4, host.addresses.IPv6], host.zone, podRanges(host))),
    ...offers.flatMap((offer) => {
      const pods = offer.pods.map((name) => lab.pod(name));
      return [
        service(sketchOf(offer)),
        ...FAMILIES.map((family) => {
          const endpoints = pods.map((pod) => ({ address: pod.addresses[family], nodeName: pod.node ?? '' }));
          return slice(sketchOf(offer), POD_PORT, endpoints, family);
        }),
      ];
    }),
  ];
}

/** A machine that can die. */
export interface DyingHost {
  readonly host: Host;
  /** Resolves with its death: when it is to run one script more than so many. What was begun is done by then, and nothing more happens. */
  dieAfter(scripts: number): Promise<'dead'>;
}

export function dyingHost(inside: Host): DyingHost {
  const died = Promise.withResolvers<'dead'>();
  const begun = new Set<Promise<unknown>>();
  let left = Number.POSITIVE_INFINITY;
  let isOver = false;
  const runTool = async (call: ToolCall) => {
    if (!isOver && call.input !== undefined) {
      isOver = left === 0;
      left -= 1;
      if (isOver) void Promise.all(begun).then(() => died.resolve('dead'));
    }
    if (isOver) return new Promise<never>(() => {});
    const running = inside.runTool(call);
    begun.add(running);
    return running;
  };
  return {
    host: { ...inside, runTool },
    dieAfter: (scripts) => {
      left = scripts;
      return died.promise;
    },
  };
}

export interface CleaningOutcome {
  readonly stdout: string;
  readonly messages: readonly string[];
  readonly exitCode: number;
}

/** What `ipvs-proxier cleanup` does on a node, done by this process. */
export async function cleanQuickly(
  name: string,
  args: Partial<CleanupArguments> = {},
  host: Host = netnsHost(name),
): Promise<CleaningOutcome> {
  const messages: string[] = [];
  let stdout = '';
  const terminal = {
    output: async (text: string) => {
      stdout += text;
    },
    error: (line: string) => messages.push(line),
    input: async () => '',
  };
  const lock = async () => succeed({ release: async () => {} });
  const exitCode = await cleanNode({ flags: {}, of: ['ipvs'], action: 'remove', ...args }, '1.2.3', terminal, {
    host,
    clock: systemClock,
    lock,
  });
  return { stdout, messages, exitCode };
}
