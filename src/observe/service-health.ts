import type { ServerResponse } from 'node:http';
import type { HealthCheck } from '../desired/health-checks.ts';
import type { ServiceName } from '../model/names.ts';
import type { Result } from '../model/result.ts';
import { fail, succeed } from '../model/result.ts';
import { same } from '../model/same.ts';
import type { Family } from '../net/family.ts';
import { answerWith, JSON_TYPE } from './answer.ts';
import type { HealthAddresses } from './health-addresses.ts';
import type { Listen, ListenAddress, Listening } from './listen.ts';

export interface ServiceHealthOptions {
  readonly family: Family;
  readonly listen: Listen;
  readonly isHealthy: () => boolean;
  /** Told of every port that could not be opened, each time that it is tried. */
  readonly failed: (check: HealthCheck, message: string) => void;
}

interface Instance {
  readonly port: number;
  readonly addresses: HealthAddresses;
  readonly servers: Listening[];
  isClosing: boolean;
}

/**
 * The health check ports of one family: load balancers ask them whether this node has endpoints of a Service. The families do not share
 * sockets, so each answers with its own count.
 *
 * Source: kubernetes/kubernetes pkg/proxy/healthcheck/service_health.go
 */
export class ServiceHealthServers {
  readonly #options: ServiceHealthOptions;
  readonly #open = new Map<ServiceName, Instance>();
  #counts: ReadonlyMap<ServiceName, number> = new Map();
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ServiceHealthOptions) {
    this.#options = options;
  }

  /** Ports that are open, by Service. */
  ports(): ReadonlyMap<ServiceName, number> {
    return new Map([...this.#open].map(([service, { port }]) => [service, port]));
  }

  /** Makes it so, one call after the other: what goes is closed, what is new or could not be had before is opened. */
  update(checks: readonly HealthCheck[], addresses: HealthAddresses): Promise<void> {
    this.#work = this.#work.then(() => (this.#isStopped ? undefined : this.#update(checks, addresses)));
    return this.#work;
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#work = this.#work.then(async () => {
      await Promise.all([...this.#open.keys()].map((service) => this.#close(service)));
    });
    return this.#work;
  }

  async #update(checks: readonly HealthCheck[], addresses: HealthAddresses): Promise<void> {
    this.#counts = new Map(checks.map(({ service, localEndpoints }) => [service, localEndpoints]));
    const wanted = new Map(checks.map((check) => [check.service, check]));
    for (const [service, instance] of this.#open) {
      const stays = wanted.get(service)?.port === instance.port && same(instance.addresses, addresses);
      if (!stays) await this.#close(service);
    }
    for (const check of checks) {
      if (this.#open.has(check.service)) continue;
      const opened = await this.#openAll(check, addresses);
      if (opened.ok) this.#open.set(check.service, opened.value);
      else this.#options.failed(check, opened.error);
    }
  }

  /** All or nothing. */
  async #openAll({ service, port }: HealthCheck, addresses: HealthAddresses): Promise<Result<Instance, string>> {
    const { family, listen } = this.#options;
    const places: readonly ListenAddress['address'][] =
      addresses === 'everywhere' ? [{ everywhere: family }] : addresses;
    const instance: Instance = { port, addresses, servers: [], isClosing: false };
    for (const address of places) {
      const opened = await listen({ address, port }, (_, response) => this.#answer(service, instance, response));
      if (opened.ok) instance.servers.push(opened.value);
      else {
        await closeAll(instance);
        return fail(opened.error);
      }
    }
    return succeed(instance);
  }

  async #close(service: ServiceName): Promise<void> {
    const instance = this.#open.get(service);
    this.#open.delete(service);
    if (instance) await closeAll(instance);
  }

  /** Any path, any method. Who comes while the port is being closed gets an empty answer. */
  #answer(service: ServiceName, { isClosing }: Instance, response: ServerResponse): void {
    if (isClosing) {
      response.end();
      return;
    }
    const localEndpoints = this.#counts.get(service) ?? 0;
    const serviceProxyHealthy = this.#options.isHealthy();
    const status = localEndpoints > 0 && serviceProxyHealthy ? 200 : 503;
    const [namespace, name] = service.split('/');
    const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy };
    answerWith(response, status, JSON_TYPE, JSON.stringify(body, null, '\t'), {
      'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
    });
  }
}

async function closeAll(instance: Instance): Promise<void> {
  instance.isClosing = true;
  await Promise.all(instance.servers.map((server) => server.close()));
}
