import type { Desired } from '../desired/desired.ts';
import { virtualServerKey } from '../kernel/ipvs/state.ts';
import { endpointKey } from '../model/endpoint.ts';
import type { ServiceName } from '../model/names.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Service, ServicePortSpec } from '../model/service.ts';
import { formatAddressPort } from '../net/ip-address.ts';
import { isThere } from './explain-service.ts';
import type { Target } from './target.ts';

/** Why nothing can be explained. */
export type NotFound =
  | { readonly kind: 'no-service'; readonly name: string; readonly candidates: readonly string[] }
  | { readonly kind: 'several-services'; readonly name: string; readonly candidates: readonly ServiceName[] }
  | {
      readonly kind: 'no-port';
      readonly service: ServiceName;
      readonly port: string;
      readonly candidates: readonly string[];
    }
  | {
      readonly kind: 'no-frontend';
      readonly frontend: string;
      /** Service ports that have an endpoint there. */
      readonly endpointOf: readonly string[];
      /** Virtual servers at the same address. */
      readonly sameAddress: readonly string[];
      /** Every virtual server of this node. */
      readonly candidates: readonly string[];
    };

/** Services of a cluster by whether they are for this proxy. */
export interface Candidates {
  readonly services: readonly Service[];
  readonly unselected: readonly Service[];
}

/**
 * The Services that a question is about: one, or at an address those whose ports are served there, if there are none those that have the
 * address and are not for this proxy.
 */
export function findTarget(
  target: Target,
  { services, unselected }: Candidates,
  families: readonly Desired[],
): Result<readonly Service[], NotFound> {
  if (target.kind === 'service') return findService(target, [...services, ...unselected]);
  const found = findFrontend(target, services, families);
  const others = unselected.filter((service) => claims(service, target));
  return found.ok || others.length === 0 ? found : succeed(others);
}

/** Whether another proxy can be expected to serve a Service at an address. */
function claims(service: Service, { address, port, protocol }: FrontendTarget): boolean {
  const { clusterIPs, externalIPs, loadBalancerVIPs, ports } = service;
  const addresses = [...Object.values(clusterIPs), ...externalIPs, ...loadBalancerVIPs];
  const isAsked = (each: ServicePortSpec) =>
    (port === undefined || each.port === port) && (protocol === undefined || each.protocol === protocol);
  return addresses.some((each) => each === address) && ports.some(isAsked);
}

type ServiceTarget = Extract<Target, { kind: 'service' }>;
type FrontendTarget = Extract<Target, { kind: 'frontend' }>;

function findService(target: ServiceTarget, services: readonly Service[]): Result<readonly Service[], NotFound> {
  const { namespace, name } = target;
  const namesakes = services.filter((service) => service.name.endsWith(`/${name}`));
  const found = namespace === undefined ? namesakes : namesakes.filter((each) => each.name === `${namespace}/${name}`);
  const [service, ...others] = found;
  if (!service) {
    const asked = namespace === undefined ? name : `${namespace}/${name}`;
    const near = namesakes.length > 0 ? namesakes : services;
    return fail({ kind: 'no-service', name: asked, candidates: near.map((each) => each.name).sort() });
  }
  if (others.length > 0) {
    return fail({ kind: 'several-services', name, candidates: found.map((each) => each.name).sort() });
  }
  return hasPort(service, target) ? succeed([service]) : fail(noPort(service, target));
}

/** One that is not served has no ports that could be asked about. */
function hasPort({ ports }: Service, { port, protocol }: ServiceTarget): boolean {
  if (ports.length === 0) return true;
  return ports.some(
    (each) =>
      (port === undefined || port === each.name || port === `${each.port}`) &&
      (protocol === undefined || protocol === each.protocol),
  );
}

function noPort({ name, ports }: Service, { port = '', protocol }: ServiceTarget): NotFound {
  const candidates = ports.map((each) => `${each.name ? `${each.name} ` : ''}${each.port}/${each.protocol}`);
  return { kind: 'no-port', service: name, port: protocol ? `${port}/${protocol}` : port, candidates };
}

function findFrontend(
  target: FrontendTarget,
  services: readonly Service[],
  families: readonly Desired[],
): Result<readonly Service[], NotFound> {
  const parts = families.flatMap((desired) => [...desired.parts.values()]);
  const having = new Set(
    parts
      .filter(({ fronts }) => fronts.some(({ server }) => isThere(virtualServerKey(server), target)))
      .map(({ port }) => port.service),
  );
  const found = services.filter(({ name }) => having.has(name));
  if (found.length > 0) return succeed(found);
  const { address, port, protocol } = target;
  const at = port === undefined ? address : formatAddressPort(address, port);
  const here = families.flatMap(({ owners }) => [...owners.keys()]);
  const elsewhere = here.filter((key) => isThere(key, { ...target, port: undefined, protocol: undefined }));
  const isEndpoint = ({ endpoints }: (typeof parts)[number]) =>
    endpoints.some((each) => (port === undefined ? each.address === address : endpointKey(each) === at));
  return fail({
    kind: 'no-frontend',
    frontend: protocol === undefined ? at : `${at}/${protocol}`,
    endpointOf: parts
      .filter(isEndpoint)
      .map((part) => part.port.key)
      .sort(),
    sameAddress: elsewhere.sort(),
    candidates: here.sort(),
  });
}
