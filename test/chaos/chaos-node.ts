import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Kernel } from '../../src/apply/kernel.ts';
import { clusterHandler } from '../../src/cluster-handler.ts';
import { openTransport, type TransportSettings } from '../../src/kube/client.ts';
import { type ClusterHandler, type ClusterWatch, watchCluster } from '../../src/kube/watch-cluster.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { BoundedFrequencyRunner } from '../../src/queue/bounded-frequency-runner.ts';
import type { Clock } from '../../src/queue/clock.ts';
import { DueRequests } from '../../src/queue/due-requests.ts';
import { QueueMetrics } from '../../src/queue/queue-metrics.ts';
import { ServiceQueue } from '../../src/queue/service-queue.ts';
import { DEFAULT_QUEUE_SETTINGS } from '../../src/queue/settings.ts';
import { ChangeIntake } from '../../src/sync/change-intake.ts';
import { PassLoop } from '../../src/sync/pass-loop.ts';
import { PassMetrics } from '../../src/sync/pass-metrics.ts';
import { Proxier } from '../../src/sync/proxier.ts';
import { settings } from '../builders/objects.ts';
import { type MemoryKernel, memoryKernel } from '../kernel/memory-kernel.ts';
import { LINKS } from '../kernel/node-under-test.ts';
import { scaledClock } from './scaled-clock.ts';
import { type WatchedTransport, watchTransport } from './watched-transport.ts';

export const SPEED = 40;

export interface ChaosNodeOptions {
  /** Text of the kubeconfig. */
  readonly kubeconfig: string;
  /** `watched`, so that there are four list-watches. */
  readonly otherNodes?: 'watched' | 'ignored';
  /** How many times as fast as real time its clock runs, {@link SPEED}. */
  readonly speed?: number;
  readonly transport?: Partial<TransportSettings>;
  readonly resyncMs?: number;
}

/** Least time between passes. There is no periodic pass: what is not told of is never seen. */
const MIN_INTERVAL_MS = 1000;
const NEVER_MS = 1e9;

/**
 * `node-a` as the daemon builds it, on a kernel in memory: transport over real sockets, watch, queue, runner and passes. Only its clock is
 * faster.
 */
export class ChaosNode {
  readonly kernel: MemoryKernel = memoryKernel(LINKS);
  readonly clock: Clock;
  readonly transport: WatchedTransport;
  readonly watch: ClusterWatch;
  /** What the cluster handler was told of besides objects: `trouble services: …`, `recovered services`, `listed`. */
  readonly told: string[] = [];
  /** Passes begun since something was last heard of the cluster's objects. */
  passesSinceNews = 0;
  /** Passes, and pieces of news, since the start. */
  readonly totals = { passes: 0, news: 0 };
  readonly #directory = mkdtempSync(join(tmpdir(), 'chaos-'));
  readonly #runner: BoundedFrequencyRunner;
  readonly #queue: ServiceQueue;
  readonly #loop: PassLoop;
  #waiters: { readonly reached: () => boolean; readonly resolve: () => void }[] = [];
  #held: Promise<void> | undefined;

  constructor({ kubeconfig, otherNodes = 'watched', speed = SPEED, transport = {}, ...given }: ChaosNodeOptions) {
    const clock = scaledClock(speed);
    this.clock = clock;
    this.writeFile('kubeconfig', kubeconfig);
    const path = this.path('kubeconfig');
    const opened = openTransport({ kubeconfig: path, master: '', userAgent: 'chaos', clock, ...transport });
    if (!opened.ok) throw new Error(opened.error.message);
    this.transport = watchTransport(opened.value, clock);
    const nodeName = 'node-a';
    const host = { ...this.kernel, runTool: (call: Parameters<MemoryKernel['runTool']>[0]) => this.#runTool(call) };
    const nowMs = () => clock.nowMs();
    const kernel = new Kernel(host, FAMILIES, nowMs);
    const proxier = new Proxier({ families: FAMILIES, nodeName, settings: settings(), kernel, nowMs });
    const runner = new BoundedFrequencyRunner({
      clock,
      minIntervalMs: MIN_INTERVAL_MS,
      maxIntervalMs: NEVER_MS,
      run: (reasons) => this.#pass(reasons),
    });
    this.#runner = runner;
    const metrics = new QueueMetrics();
    const listener = new DueRequests(clock, runner);
    const queueSettings = DEFAULT_QUEUE_SETTINGS;
    this.#queue = new ServiceQueue({
      clock,
      random: Math.random,
      settings: queueSettings,
      listener,
      observer: metrics,
    });
    const log = pino({ level: 'silent' });
    this.#loop = new PassLoop({
      proxier,
      queue: this.#queue,
      metrics: new PassMetrics(),
      log,
      nowMs: () => clock.nowMs(),
      fullIntervalMs: 30_000,
    });
    const { record } = proxier;
    const intake = new ChangeIntake(record, this.#queue, queueSettings.thresholds, metrics);
    const start = () => {
      runner.request('start');
      runner.start();
    };
    const ownNode = { seen: () => {}, listed: start };
    const handler = this.#heard(clusterHandler({ record, intake, runner, ownNode, log, nodeName }));
    const options = { transport: this.transport, nodeName, otherNodes, handler, clock, random: Math.random };
    this.watch = watchCluster({ ...options, ...given });
    this.watch.start();
  }

  /** A file beside the kubeconfig. */
  path(name: string): string {
    return join(this.#directory, name);
  }

  writeFile(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  /** Resolves as soon as `reached` is true after a pass, or after something was told. */
  until(reached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ reached, resolve });
      this.#look();
    });
  }

  untilTold(what: RegExp): Promise<void> {
    return this.until(() => this.told.some((line) => what.test(line)));
  }

  /** Tools started since the last call that write. */
  takeWrites(): readonly string[] {
    const calls = this.kernel.calls.splice(0);
    return calls.flatMap(({ tool, input }) => (input === undefined ? [] : [`${tool}: ${input}`]));
  }

  /** Makes tools wait until the function that it gives is called. */
  holdTools(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return resolve;
  }

  async stop(): Promise<void> {
    this.#queue.shutDown();
    await Promise.all([this.watch.stop(), this.#runner.stop()]);
    this.transport.close();
    rmSync(this.#directory, { recursive: true });
  }

  async #runTool(call: Parameters<MemoryKernel['runTool']>[0]): ReturnType<MemoryKernel['runTool']> {
    await this.#held;
    return this.kernel.runTool(call);
  }

  async #pass(reasons: ReadonlySet<string>) {
    this.passesSinceNews += 1;
    this.totals.passes += 1;
    const outcome = await this.#loop.run(reasons);
    this.#look();
    return outcome;
  }

  #heard(handler: ClusterHandler): ClusterHandler {
    const news =
      <Args extends readonly unknown[]>(tell: (...args: Args) => void) =>
      (...args: Args) => {
        this.passesSinceNews = 0;
        this.totals.news += 1;
        tell(...args);
      };
    const note = (line: string) => {
      this.told.push(line);
      this.#look();
    };
    return {
      ...handler,
      service: news(handler.service),
      slice: news(handler.slice),
      node: news(handler.node),
      otherNode: news(handler.otherNode),
      listed: (late) => {
        handler.listed(late);
        note('listed');
      },
      trouble: (resource, message) => note(`trouble ${resource}: ${message}`),
      recovered: (resource) => note(`recovered ${resource}`),
    };
  }

  #look(): void {
    const done = this.#waiters.filter(({ reached }) => reached());
    this.#waiters = this.#waiters.filter((waiter) => !done.includes(waiter));
    for (const { resolve } of done) resolve();
  }
}
