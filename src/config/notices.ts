import type { Flag } from './flag.ts';
import type { RawConfig } from './raw-config.ts';
import type { IpvsProxierConfiguration, KubeProxyConfiguration } from './schema.ts';

/** Feature gates that kube-proxy itself reads, in any release that has an ipvs mode. */
const KNOWN_GATES: ReadonlySet<string> = new Set([
  'AllAlpha',
  'AllBeta',
  'ComponentFlagz',
  'ComponentStatusz',
  'ContextualLogging',
  'KubeProxyDrainingTerminatingNodes',
  'KubeProxyIPVS',
  'KubeProxyNFTablesLocalhostNodePorts',
  'LoadBalancerIPMode',
  'LoggingAlphaOptions',
  'LoggingBetaOptions',
  'MultiCIDRServiceAllocator',
  'NFTablesNetlink',
  'NFTablesProxyMode',
  'PreferSameTrafficDistribution',
  'ProxyTerminatingEndpoints',
  'ServiceTrafficDistribution',
  'TopologyAwareHints',
]);

/** What an operator should hear about a configuration that is accepted nevertheless. */
export function collectNotices(config: KubeProxyConfiguration, flags: readonly Flag[]): readonly string[] {
  return [
    ...modeNotice(config.mode),
    ...gateNotices(config.featureGates),
    ...flags.flatMap(({ name, deprecated }) => (deprecated ? [`flag --${name} is deprecated: ${deprecated}`] : [])),
  ];
}

/** `raw` is the second document as it was given: there defaults are not filled in. */
export function weightsNotice({ weightPolicy }: IpvsProxierConfiguration, raw: RawConfig): readonly string[] {
  if (weightPolicy !== 'uniform' || raw.weights === undefined) return [];
  return ['weights do not count, as weightPolicy is "uniform"; every endpoint has weight 1'];
}

function modeNotice(mode: KubeProxyConfiguration['mode']): string[] {
  if (mode === 'ipvs') return [];
  const given = mode === '' ? 'mode is empty' : `mode is "${mode}"`;
  return [`${given}; this program runs ipvs anyway`];
}

/** A kube-proxy of the right release would know more gates or fewer; refusing them would break files that worked. */
function gateNotices(gates: Readonly<Record<string, boolean>>): string[] {
  const unknown = Object.keys(gates).filter((name) => !KNOWN_GATES.has(name));
  const notices = unknown.map((name) => `feature gate "${name}" is not known and has no effect`);
  if (gates.KubeProxyIPVS === false) notices.push('feature gate KubeProxyIPVS is false; this program runs ipvs anyway');
  return notices;
}
