import { pino } from 'pino';
import { countedHost } from '../../src/apply/counted-host.ts';
import type { Host } from '../../src/apply/host.ts';
import { Kernel } from '../../src/apply/kernel.ts';
import type { ToolCall } from '../../src/apply/tool.ts';
import { clusterHandler } from '../../src/cluster-handler.ts';
import { fromFile } from '../../src/config/config-fixture.ts';
import type { GivenFlags } from '../../src/config/flag-values.ts';
import type { ProxyConfig } from '../../src/config/proxy-config.ts';
import { proxySettings } from '../../src/config/proxy-settings.ts';
import { type ClusterObjects, decodeObjects } from '../../src/kube/cluster-objects.ts';
import type { ClusterHandler } from '../../src/kube/watch-cluster.ts';
import { fail } from '../../src/model/result.ts';
import { FAMILIES } from '../../src/net/family.ts';
import type { IpAddress } from '../../src/net/ip-address.ts';
import type { Port } from '../../src/net/port.ts';
import { Observers } from '../../src/observers.ts';
import { BoundedFrequencyRunner } from '../../src/queue/bounded-frequency-runner.ts';
import { DueRequests } from '../../src/queue/due-requests.ts';
import { ServiceQueue } from '../../src/queue/service-queue.ts';
import { Serving } from '../../src/serving.ts';
import { ChangeIntake } from '../../src/sync/change-intake.ts';
import { measuredKernel } from '../../src/sync/measured-kernel.ts';
import { PassLoop } from '../../src/sync/pass-loop.ts';
import { Proxier } from '../../src/sync/proxier.ts';
import type { ObjectJson } from '../kernel/cluster-objects.ts';
import { type Links, type MemoryKernel, memoryKernel } from '../kernel/memory-kernel.ts';
import { recordChanges } from '../kernel/record-cluster.ts';
import { SteppedClock } from '../stepped-clock.ts';

/** 2026-01-01T00:00:00Z, when the clock stands at 0. */
export const START_MS = 1_767_225_600_000;

const LINKS: Links = {
  lo: ['127.0.0.1/8', '::1/128'],
  eth0: ['192.168.0.10/24', 'fd00:168::10/64'],
};

export interface ObservedNodeOptions {
  /** Lines of the configuration file after its head. */
  readonly configuration?: string;
  readonly flags?: GivenFlags;
  readonly links?: Links;
  /** Ports of the two servers on 127.0.0.1; 0, the default, lets the system choose. */
  readonly ports?: { readonly health?: number; readonly metrics?: number };
  /** Takes the place of some calls to the kernel. */
  readonly replace?: (host: Host) => Host;
}

/** What a test asks for: text, status, headers. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** `node-a` on a kernel in memory with everything that watches it and listens. Time passes when it is told to. */
export class ObservedNode {
  readonly clock = new SteppedClock();
  readonly kernel: MemoryKernel;
  readonly observers: Observers;
  readonly serving: Serving;
  readonly told: string[] = [];
  /** Tools, or `file`, that fail from now on; `ipvsadm read` and `ipvsadm write` name one of the two. */
  readonly failing = new Set<string>();
  /** The same, for one call. */
  readonly failingOnce = new Set<string>();
  /** What `ipvsadm -Ln --stats --exact` prints. */
  statistics = '';
  verbosity = 0;
  readonly #handler: ClusterHandler;
  readonly #runner: BoundedFrequencyRunner;
  #known: ClusterObjects = decodeObjects([]);
  #synced: Promise<void> = Promise.resolve();

  constructor(options: ObservedNodeOptions = {}) {
    const { configuration = '', flags = {}, links = LINKS, ports = {}, replace = (host) => host } = options;
    const { clock } = this;
    const config: ProxyConfig = {
      ...fromFile(configuration),
      healthzBindAddress: { address: '127.0.0.1' as IpAddress, port: (ports.health ?? 0) as Port },
      metricsBindAddress: { address: '127.0.0.1' as IpAddress, port: (ports.metrics ?? 0) as Port },
    };
    const nowMs = () => clock.nowMs();
    const wallMs = () => START_MS + clock.nowMs();
    const log = pino({ level: 'trace' }, { write: (line: string) => this.told.push(JSON.parse(line).msg) });
    this.kernel = memoryKernel(links);
    const settings = proxySettings(config, true);
    const { scheduler } = settings;
    const observers = new Observers({ config, families: FAMILIES, version: '1.2.3', scheduler, nowMs, wallMs });
    const host = countedHost(replace(this.#faultyHost()), nowMs, (call) => observers.called(call));
    const kernel = measuredKernel(new Kernel(host, FAMILIES, nowMs), nowMs, observers.kubeProxy.flowsCleared);
    const proxier = new Proxier({ families: FAMILIES, nodeName: 'node-a', settings, kernel, nowMs });
    const bounded = new BoundedFrequencyRunner({
      clock,
      minIntervalMs: config.minSyncPeriodMs,
      maxIntervalMs: config.syncPeriodMs,
      run: (reasons) => {
        observers.passStarted();
        return passes.run(reasons);
      },
    });
    const runner = observers.runner(bounded);
    const queue = new ServiceQueue({
      clock,
      random: () => 0,
      settings: config.queue,
      listener: new DueRequests(clock, runner),
      observer: observers.queueObserver,
    });
    observers.attach({ record: proxier.record, queue });
    const setVerbosity = (verbosity: number) => {
      this.verbosity = verbosity;
    };
    const parts = { config, flags, families: FAMILIES, version: '1.2.3', observers, proxier, host, clock, wallMs, log };
    this.serving = new Serving({ ...parts, setVerbosity });
    const metrics = {
      ran: (...ran: Parameters<Observers['passed']>) => {
        observers.passed(...ran);
        this.#synced = this.serving.passed(ran[0]);
      },
    };
    const passes = new PassLoop({ proxier, queue, metrics, log, nowMs: () => clock.nowMs(), fullIntervalMs: 30_000 });
    const intake = observers.intake(
      new ChangeIntake(proxier.record, queue, config.queue.thresholds, observers.queueMetrics),
    );
    const listed = () => {
      runner.request('start');
      runner.start();
    };
    const ownNode = { seen: () => {}, listed };
    const handler = clusterHandler({ record: proxier.record, intake, runner, ownNode, log, nodeName: 'node-a' });
    this.#handler = observers.handler(handler);
    this.observers = observers;
    this.#runner = bounded;
  }

  /** Makes the cluster consist of these objects, and lets time pass: by default what the batching of changes takes. */
  async apply(objects: readonly ObjectJson[], waitMs = 3_000): Promise<void> {
    const after = decodeObjects(objects);
    recordChanges(this.#known.nodes, after.nodes, (old, now) => {
      if ((now ?? old)?.name === 'node-a') this.#handler.node(old, now);
    });
    recordChanges(this.#known.services, after.services, (old, now) => this.#handler.service(old, now));
    recordChanges(this.#known.slices, after.slices, (old, now) => this.#handler.slice(old, now));
    this.#known = after;
    await this.advance(waitMs);
  }

  /** The first lists are complete: passes begin. */
  async listed(): Promise<void> {
    this.#handler.listed([]);
    await this.advance(0);
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.#synced;
  }

  ask(server: 'health' | 'metrics', path: string, init: RequestInit = {}): Promise<Reply> {
    return ask(`http://127.0.0.1:${this.serving.port(server)}${path}`, init);
  }

  /** Status codes of `/healthz` and `/livez`. */
  async health(): Promise<readonly [number, number]> {
    return [(await this.ask('health', '/healthz')).status, (await this.ask('health', '/livez')).status];
  }

  async stop(): Promise<void> {
    await Promise.all([this.#runner.stop(), this.serving.stop()]);
  }

  #faultyHost(): Host {
    const { kernel } = this;
    const isFailing = (tool: string, operation: string) =>
      [tool, `${tool} ${operation}`].some((name) => this.failing.has(name) || this.failingOnce.delete(name));
    return {
      ...kernel,
      runTool: async (call: ToolCall) => {
        const { tool, args, input } = call;
        if (isFailing(tool, input === undefined ? 'read' : 'write')) {
          return fail({ kind: 'tool-timeout', tool, afterMs: 30_000 });
        }
        if (tool === 'ipvsadm' && args.includes('--stats')) {
          return { ok: true, value: { stdout: this.statistics, stderr: '' } };
        }
        return kernel.runTool(call);
      },
      readText: async (path) =>
        isFailing('file', 'read') ? fail({ kind: 'file-failed', path, code: 'EIO' }) : kernel.readText(path),
    };
  }
}

export async function ask(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, body: await response.text() };
}
