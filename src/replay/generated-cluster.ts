import type { Json } from '../kube/fields.ts';
import { pickNumber, type Random } from './random.ts';
import type { EventType, TraceEvent } from './trace-event.ts';

interface MadeEndpoint {
  readonly address: string;
  readonly node: number;
  ready: boolean;
  /** That it is meant for; `undefined` when nothing says so. */
  zone: number | undefined;
}

interface MadeService {
  readonly number: number;
  readonly endpoints: MadeEndpoint[];
  /** How often something changed that means nothing. */
  serviceNoise: number;
  sliceNoise: number;
}

/** A cluster that exists only here: Services with one slice each, and what may happen to them. */
export class GeneratedCluster {
  readonly #random: Random;
  readonly #services: readonly MadeService[];
  readonly #usualEndpoints: number;
  #pods = 0;
  #version = 0;

  constructor(services: number, endpoints: number, random: Random) {
    this.#random = random;
    this.#usualEndpoints = endpoints;
    this.#services = Array.from({ length: services }, (_, number) => ({
      number,
      endpoints: Array.from({ length: endpoints }, () => this.#newEndpoint()),
      serviceNoise: 0,
      sliceNoise: 0,
    }));
  }

  /** The first list: Services before their slices. */
  *first(): Generator<TraceEvent> {
    for (const service of this.#services) yield this.#serviceEvent(service, 'ADDED', 0);
    for (const service of this.#services) yield this.#sliceEvent(service, 'ADDED', 0);
  }

  /** One endpoint turns ready or not ready. Each sort is as likely, as long as there are both. */
  flap(atMs: number): TraceEvent {
    const service = this.#anyService();
    const wanted = this.#random() < 0.5;
    const fitting = service.endpoints.filter(({ ready }) => ready === wanted);
    const endpoint = this.#any(fitting.length > 0 ? fitting : service.endpoints);
    if (endpoint) endpoint.ready = !endpoint.ready;
    return this.#sliceEvent(service, 'MODIFIED', atMs);
  }

  /** A pod is made anew: as many as before, one at another address. */
  replace(atMs: number): TraceEvent {
    const service = this.#anyService();
    if (service.endpoints.length > 0)
      service.endpoints.splice(pickNumber(this.#random, service.endpoints.length), 1, this.#newEndpoint());
    return this.#sliceEvent(service, 'MODIFIED', atMs);
  }

  /** One or two endpoints come or go, around the usual number; the last one may go. */
  scale(atMs: number): TraceEvent {
    const service = this.#anyService();
    const { endpoints } = service;
    const by = 1 + pickNumber(this.#random, 2);
    const grows = this.#random() * 2 * Math.max(1, this.#usualEndpoints) >= endpoints.length;
    if (grows) endpoints.push(...Array.from({ length: by }, () => this.#newEndpoint()));
    else endpoints.splice(0, by);
    return this.#sliceEvent(service, 'MODIFIED', atMs);
  }

  /** One endpoint is meant for another zone than before: of all changes that the kernel depends on, the least urgent. */
  minor(atMs: number): TraceEvent {
    const service = this.#anyService();
    const endpoint = this.#any(service.endpoints);
    if (endpoint) endpoint.zone = ((endpoint.zone ?? pickNumber(this.#random, ZONES)) + 1) % ZONES;
    return this.#sliceEvent(service, 'MODIFIED', atMs);
  }

  /** Labels, annotations, managed fields or status text change, and nothing else. */
  noise(atMs: number): TraceEvent {
    const service = this.#anyService();
    if (this.#random() < 0.5) {
      service.serviceNoise += 1;
      return this.#serviceEvent(service, 'MODIFIED', atMs);
    }
    service.sliceNoise += 1;
    return this.#sliceEvent(service, 'MODIFIED', atMs);
  }

  #anyService(): MadeService {
    const service = this.#services[pickNumber(this.#random, this.#services.length)];
    if (!service) throw new Error('a generated cluster needs a Service');
    return service;
  }

  #any<T>(list: readonly T[]): T | undefined {
    return list[pickNumber(this.#random, list.length)];
  }

  #newEndpoint(): MadeEndpoint {
    this.#pods += 1;
    return { address: `10.${dotted(this.#pods % 2 ** 24)}`, node: this.#pods % NODES, ready: true, zone: undefined };
  }

  #serviceEvent({ number, serviceNoise }: MadeService, type: EventType, atMs: number): TraceEvent {
    const object: Json = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        ...this.#metadata(`service-${number}`, serviceNoise),
        labels: { app: `service-${number}`, 'example.com/generation': `${Math.ceil(serviceNoise / 3)}` },
      },
      spec: {
        type: 'ClusterIP',
        clusterIP: `172.20.${Math.floor(number / 250)}.${(number % 250) + 1}`,
        clusterIPs: [`172.20.${Math.floor(number / 250)}.${(number % 250) + 1}`],
        ipFamilies: ['IPv4'],
        ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
        selector: { app: `service-${number}` },
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
      },
      status: { loadBalancer: {}, conditions: [{ type: 'Seen', message: `checked ${serviceNoise} times` }] },
    };
    return { atMs, type, kind: 'Service', object };
  }

  #sliceEvent({ number, endpoints, sliceNoise }: MadeService, type: EventType, atMs: number): TraceEvent {
    const object: Json = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        ...this.#metadata(`service-${number}-1`, sliceNoise),
        labels: {
          'kubernetes.io/service-name': `service-${number}`,
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
      },
      addressType: 'IPv4',
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
      endpoints: endpoints.map(({ address, node, ready, zone }) => ({
        addresses: [address],
        conditions: { ready, serving: ready, terminating: false },
        nodeName: `node-${node}`,
        ...(zone === undefined ? {} : { hints: { forZones: [{ name: `zone-${zone}` }] } }),
      })),
    };
    return { atMs, type, kind: 'EndpointSlice', object };
  }

  #metadata(name: string, noise: number): Json {
    this.#version += 1;
    return {
      namespace: 'generated',
      name,
      uid: name,
      resourceVersion: `${this.#version}`,
      annotations: { 'example.com/seen': `${noise}` },
      managedFields: [{ manager: 'generator', operation: 'Update', time: `${noise}` }],
    };
  }
}

const NODES = 50;
const ZONES = 3;

function dotted(number: number): string {
  return [16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}
