import type { Desired } from '../desired/desired.ts';
import type { HealthCheck } from '../desired/health-checks.ts';
import type { Behaviour } from '../desired/settings.ts';
import { virtualServerKey } from '../kernel/ipvs/state.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { EndpointSlice } from '../model/endpoint-slice.ts';
import { type ServiceName, type ServicePortKey, servicePortKey } from '../model/names.ts';
import type { Problem } from '../model/problem.ts';
import type { Service, ServicePortSpec, UnselectedService } from '../model/service.ts';
import type { Family } from '../net/family.ts';
import { selectEndpoints } from '../topology/choose-endpoints.ts';
import type { Change, LeftAlone } from './change.ts';
import type { Comparison } from './compare-node.ts';
import { type EndpointExplanation, explainEndpoints } from './explain-endpoints.ts';
import { explainServer, type ServerExplanation } from './explain-server.ts';
import { ignoredFields } from './ignored-fields.ts';
import type { Target } from './target.ts';

/** Why a Service is served as it is on one node. */
export interface Explanation {
  readonly service: ServiceName;
  readonly type: Service['type'];
  readonly affinitySeconds: number;
  readonly internalTrafficPolicy: Service['internalTrafficPolicy'];
  readonly externalTrafficPolicy: Service['externalTrafficPolicy'];
  readonly ports: readonly PortExplanation[];
  /** Why nothing of it is served, in a family or at all. */
  readonly notServed: readonly string[];
  /** One for each family in which it has one. */
  readonly healthChecks: readonly (Omit<HealthCheck, 'service'> & { readonly family: Family })[];
  readonly warnings: readonly Problem[];
}

/** One service port in one family. */
export interface PortExplanation {
  readonly servicePort: ServicePortKey;
  readonly family: Family;
  readonly virtualServers: readonly ServerExplanation[];
  readonly endpoints: readonly EndpointExplanation[];
  /** By whose hints endpoints were left out; `ignored` where endpoints have some that do not count here. */
  readonly hints: 'node' | 'zone' | 'ignored' | 'none';
  /** Whether the kernel has it; absent when it was not read. */
  readonly kernel?: { readonly changes: readonly Change[]; readonly leftAlone: readonly LeftAlone[] };
}

export interface ExplainInputs {
  readonly slices: readonly EndpointSlice[];
  /** Services that are not for this proxy. */
  readonly unselected: readonly UnselectedService[];
  readonly nodeName: string;
  readonly families: readonly Desired[];
  readonly behaviour: Behaviour;
  /** Of the whole cluster. */
  readonly warnings: readonly Problem[];
  /** One for each family when the kernel was read, else none. */
  readonly comparisons: readonly Comparison[];
}

/** Explains what of the Service somebody asks about. Never fails: a Service that is not served is explained too. */
export function explainService(service: Service, target: Target, inputs: ExplainInputs): Explanation {
  const slices = inputs.slices.filter((slice) => slice.service === service.name);
  const { families } = inputs;
  return {
    service: service.name,
    type: service.type,
    affinitySeconds: service.affinitySeconds,
    internalTrafficPolicy: service.internalTrafficPolicy,
    externalTrafficPolicy: service.externalTrafficPolicy,
    ports: families.flatMap((desired, index) =>
      service.ports
        .filter((spec) => isAsked(target, spec))
        .flatMap((spec) => explainPort(service, spec, desired, inputs.comparisons[index], { ...inputs, slices }))
        .flatMap((port) => narrow(port, target)),
    ),
    notServed: whyNotServed(service, inputs),
    healthChecks: families.flatMap(({ kernel: { family }, healthChecks }) =>
      healthChecks
        .filter((check) => check.service === service.name)
        .map(({ port, localEndpoints }) => ({ family, port, localEndpoints })),
    ),
    warnings: [
      ...inputs.warnings.filter((problem) => isAbout(problem, service.name, slices)),
      ...ignoredFields(service),
    ],
  };
}

function isAsked(target: Target, { name, port, protocol }: ServicePortSpec): boolean {
  if (target.protocol !== undefined && target.protocol !== protocol) return false;
  if (target.kind === 'frontend' || target.port === undefined) return true;
  return target.port === name || target.port === `${port}`;
}

/** Of somebody who asks about an address, only what is served there. */
function narrow(port: PortExplanation, target: Target): readonly PortExplanation[] {
  if (target.kind === 'service') return [port];
  const virtualServers = port.virtualServers.filter(({ virtualServer }) => isThere(virtualServer, target));
  return virtualServers.length === 0 ? [] : [{ ...port, virtualServers }];
}

/** Whether a virtual server has the address, port and protocol asked for. */
export function isThere(key: string, { address, port, protocol }: Extract<Target, { kind: 'frontend' }>): boolean {
  const [of, dialled = ''] = key.split(' ');
  const host = dialled.slice(0, dialled.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  if (host !== address || (protocol !== undefined && protocol !== of)) return false;
  return port === undefined || dialled.endsWith(`:${port}`);
}

function explainPort(
  service: Service,
  { name, protocol }: ServicePortSpec,
  desired: Desired,
  comparison: Comparison | undefined,
  { slices, nodeName, behaviour }: ExplainInputs,
): readonly PortExplanation[] {
  const { family } = desired.kernel;
  const key = servicePortKey(service.name, name, protocol);
  const part = desired.parts.get(key);
  if (!part) return [];
  const selections = selectEndpoints(part.endpoints, part.port, desired.node.place);
  const { endpoints } = part;
  const ofSlices = { key, portName: name, protocol, family, slices, nodeName, endpoints, selections };
  const concerned = slices.filter((slice) => slice.family === family || service.clusterIPs[slice.family] === undefined);
  const servers = part.fronts.map((front) => virtualServerKey(front.server));
  return [
    {
      servicePort: key,
      family,
      virtualServers: part.fronts.map((front) => explainServer(front, { part, selections, desired, behaviour })),
      endpoints: explainEndpoints({ ...ofSlices, slices: concerned }),
      hints: selections.cluster?.hint ?? (endpoints.some(hasHint) ? 'ignored' : 'none'),
      ...(comparison
        ? {
            kernel: {
              changes: comparison.changes.filter(({ services }) => services.includes(key)),
              leftAlone: comparison.leftAlone.filter(({ thing }) =>
                servers.some((each) => thing.endsWith(` of ${each}`)),
              ),
            },
          }
        : {}),
    },
  ];
}

function hasHint({ zoneHints, nodeHints }: Endpoint): boolean {
  return zoneHints.length > 0 || nodeHints.length > 0;
}

function whyNotServed(service: Service, { families, unselected }: ExplainInputs): readonly string[] {
  const otherProxy = unselected.find((each) => each.service === service)?.otherProxy;
  if (otherProxy !== undefined) {
    return [
      `its label service.kubernetes.io/service-proxy-name leaves it to another proxy, ${JSON.stringify(otherProxy)}`,
    ];
  }
  if (service.type === 'ExternalName') return ['it is of type ExternalName, which is for DNS alone'];
  if (service.clusterIP === 'None') return ['it is headless: clients dial its endpoints themselves'];
  if (service.clusterIP === undefined) return ['it has no cluster address yet'];
  if (service.ports.length === 0) return ['it has no port that can be served'];
  const without = families.filter(({ kernel }) => service.clusterIPs[kernel.family] === undefined);
  return without.map(({ kernel }) => `in ${kernel.family}, as it has no cluster address there`);
}

function isAbout({ object, service }: Problem, name: ServiceName, slices: readonly EndpointSlice[]): boolean {
  if (service === name || object === `Service ${name}`) return true;
  return slices.some((slice) => object === `EndpointSlice ${slice.name}`);
}
