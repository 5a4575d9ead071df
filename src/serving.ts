import type { Host } from './apply/host.ts';
import { readCounters } from './apply/read-counters.ts';
import type { BindAddress } from './config/bind-address.ts';
import type { GivenFlags } from './config/flag-values.ts';
import { FLAGS } from './config/flags.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import type { Desired } from './desired/desired.ts';
import type { HealthCheck } from './desired/health-checks.ts';
import type { VirtualServerKey } from './kernel/ipvs/state.ts';
import type { ServiceName } from './model/names.ts';
import { fail, type Result, succeed } from './model/result.ts';
import type { ServicePort } from './model/service-port.ts';
import type { Family } from './net/family.ts';
import { isUnspecified } from './net/ip-address.ts';
import { configzBody } from './observe/configz.ts';
import { resultOf } from './observe/finished-pass.ts';
import { healthAddresses } from './observe/health-addresses.ts';
import { healthAnswer } from './observe/health-answer.ts';
import { type IpvsDetail, ipvsPage } from './observe/ipvs-page.ts';
import { KeptServer } from './observe/kept-server.ts';
import { type Answer, type ListenAddress, listen } from './observe/listen.ts';
import { metricsAnswer, type Page } from './observe/metrics-answer.ts';
import { newPace } from './observe/pace.ts';
import { ServiceHealthServers } from './observe/service-health.ts';
import { Slis } from './observe/slis.ts';
import { METRICS_PATHS, type ZpageKind } from './observe/zpages.ts';
import type { Observers } from './observers.ts';
import type { Clock } from './queue/clock.ts';
import { StatusPage } from './status-page.ts';
import type { PassReport, Proxier } from './sync/proxier.ts';

export interface ServingParts {
  readonly config: ProxyConfig;
  /** As given on the command line. */
  readonly flags: GivenFlags;
  readonly families: readonly Family[];
  readonly version: string;
  readonly observers: Observers;
  readonly proxier: Pick<Proxier, 'interfaces' | 'record' | 'views'>;
  readonly host: Host;
  readonly clock: Clock;
  readonly wallMs: () => number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  readonly setVerbosity: (verbosity: number) => void;
  /** A health check port of a Service could not be opened; heard each time that it is tried. */
  readonly healthCheckFailed?: (check: HealthCheck, message: string) => void;
}

/** A server whose port cannot be had; the message names it. */
export interface DeafServer {
  readonly server: 'health' | 'metrics';
  readonly message: string;
}

/** Everything that listens: the health server, the metrics server, and the health check ports of Services. */
export class Serving {
  readonly #parts: ServingParts;
  readonly #servers: ReadonlyMap<'health' | 'metrics', KeptServer>;
  readonly #services: ReadonlyMap<Family, ServiceHealthServers>;
  readonly #desired = new Map<Family, Desired>();
  readonly #saidFailures = new Map<string, string>();

  constructor(parts: ServingParts) {
    const { config, families, observers, wallMs } = parts;
    this.#parts = parts;
    const { health, kubeProxy } = observers;
    const answers: readonly (readonly ['health' | 'metrics', BindAddress | undefined, Answer])[] = [
      ['health', config.healthzBindAddress, healthAnswer({ health, wallMs, counted: kubeProxy.answered })],
      ['metrics', config.metricsBindAddress, this.#metricsAnswer()],
    ];
    this.#servers = new Map(
      answers.flatMap(([name, where, answer]) =>
        where ? [[name, this.#keptServer(name, where, answer)] as const] : [],
      ),
    );
    const isHealthy = () => health.read('healthy').healthy;
    this.#services = new Map(
      families.map((family) => {
        const failed = (check: HealthCheck, message: string) => this.#failed(family, check, message);
        return [family, new ServiceHealthServers({ family, listen, isHealthy, failed })];
      }),
    );
  }

  /** The port a server listens on; `undefined` when it does not. */
  port(name: 'health' | 'metrics'): number | undefined {
    return this.#servers.get(name)?.port;
  }

  /** Opens both servers; fails with the one that cannot be had, where that ends the process. */
  async start(): Promise<Result<void, DeafServer>> {
    for (const [name, server] of this.#servers) {
      const started = await server.start();
      if (!started.ok) return fail({ server: name, message: `the ${name} server cannot listen: ${started.error}` });
    }
    return succeed(undefined);
  }

  /** Opens and closes health check ports for the families that were programmed. Resolves when that is done. */
  async passed(report: PassReport): Promise<void> {
    const { config, families, proxier } = this.#parts;
    const node = proxier.record.nodeView(proxier.interfaces);
    const updates = families.map((family) => {
      const desired = report.families.find(({ state }) => state.family === family)?.state.desired;
      if (!desired || resultOf(report, family) === 'failed') return undefined;
      this.#desired.set(family, desired);
      return this.#services.get(family)?.update(desired.healthChecks, healthAddresses(family, config, node));
    });
    await Promise.all(updates);
    this.#forgetFailures();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#servers.values(), ...this.#services.values()].map((each) => each.stop()));
  }

  #keptServer(name: string, { address, port }: BindAddress, answer: Answer): KeptServer {
    const { config, clock, log } = this.#parts;
    const where: ListenAddress = { address: isUnspecified(address) ? { everywhere: 'both' } : address, port };
    const failed = (err: string) => log.warn({ server: name, err }, 'the server cannot listen; it is tried again');
    const recovered = () => log.info({ server: name }, 'the server listens now');
    return new KeptServer({ where, answer, listen, clock, hardFail: config.bindAddressHardFail, failed, recovered });
  }

  #metricsAnswer(): Answer {
    const { config, flags, version, observers, wallMs, setVerbosity, log } = this.#parts;
    const startedMs = wallMs();
    const status = new StatusPage({ ...this.#parts, startedMs });
    const { featureGates, enableProfiling } = config;
    const scrapes = observers.registry.counter(
      'promhttp_metric_handler_requests_total',
      'Answers of /metrics by status',
      ['code'],
    );
    return metricsAnswer({
      page: (detail) => this.#page(detail),
      slis: new Slis(startedMs),
      configz: () => configzBody(config),
      status: (asked) => status.page(asked),
      zpages: { flags: flagValues(flags), version, startedMs, wallMs, paths: METRICS_PATHS, random: Math.random },
      zpageKinds: (['Flagz', 'Statusz'] as const).filter((kind) => featureGates[GATES[kind]] !== false),
      debug: enableProfiling ? { setVerbosity } : undefined,
      counted: (status) => scrapes.inc({ code: String(status) }),
      broken: (error) => log.warn({ err: String(error) }, 'an answer of the metrics server was broken off'),
    });
  }

  /** What is counted here, then what the kernel counts. */
  async *#page(detail: IpvsDetail): Page {
    const { host, observers } = this.#parts;
    yield* observers.registry.page();
    if (detail === 'off') return;
    const texts = await readCounters(host);
    if (texts.ok) yield* ipvsPage(texts.value, detail, (key) => this.#ownerOf(key), newPace());
  }

  #ownerOf(frontend: VirtualServerKey): ServicePort | undefined {
    for (const { owners } of this.#desired.values()) {
      const owner = owners.get(frontend);
      if (owner !== undefined) return owner.part.port;
    }
    return undefined;
  }

  /** Said when it becomes another failure, not at every try. */
  #failed(family: Family, check: HealthCheck, err: string): void {
    const { log, healthCheckFailed } = this.#parts;
    const { service, port } = check;
    healthCheckFailed?.(check, err);
    const key = failureKey(family, service);
    if (this.#saidFailures.get(key) !== err) {
      log.warn({ service, port, family, err }, 'the health check port cannot be opened; it is tried again');
    }
    this.#saidFailures.set(key, err);
  }

  #forgetFailures(): void {
    for (const [family, servers] of this.#services) {
      for (const service of servers.ports().keys()) this.#saidFailures.delete(failureKey(family, service));
    }
  }
}

const GATES: Readonly<Record<ZpageKind, string>> = { Flagz: 'ComponentFlagz', Statusz: 'ComponentStatusz' };

function failureKey(family: Family, service: ServiceName): string {
  return `${family} ${service}`;
}

/** Every flag of the configuration as given, else its default. */
function flagValues(flags: GivenFlags): Readonly<Record<string, string>> {
  return Object.fromEntries(FLAGS.map((flag) => [flag.name, String(flags[flag.name] ?? flag.default)]));
}
