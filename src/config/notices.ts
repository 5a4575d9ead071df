import { same } from '../model/same.ts';
import { fieldNames } from './field-names.ts';
import type { Flag } from './flag.ts';
import { getField } from './raw-config.ts';
import {
  type IpvsProxierConfiguration,
  ipvsProxierConfiguration,
  type KubeProxyConfiguration,
  kubeProxyConfiguration,
} from './schema.ts';

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
    ...otherModesNotice(config),
    ...gateNotices(config.featureGates),
    ...flags.flatMap(({ name, deprecated }) => (deprecated ? [`flag --${name} is deprecated: ${deprecated}`] : [])),
  ];
}

export function weightsNotice({ weightPolicy, weights }: IpvsProxierConfiguration): readonly string[] {
  if (weightPolicy !== 'uniform' || same(weights, ipvsProxierConfiguration.parse({}).weights)) return [];
  return ['weights do not count, as weightPolicy is "uniform"; every endpoint has weight 1'];
}

function modeNotice(mode: KubeProxyConfiguration['mode']): string[] {
  if (mode === 'ipvs') return [];
  const given = mode === '' ? 'mode is empty' : `mode is "${mode}"`;
  const left = mode === '' ? '' : `; what kube-proxy made in that mode stays until "ipvs-proxier cleanup --of ${mode}"`;
  return [`${given}; this program runs ipvs anyway${left}`];
}

/** A file of kube-proxy's own making names every field, so only values of somebody's choice count. */
function otherModesNotice(config: KubeProxyConfiguration): string[] {
  const defaults = kubeProxyConfiguration.parse({});
  const isOfOthers = (field: string) => OTHER_MODES.some((name) => field === name || field.startsWith(`${name}.`));
  const chosen = fieldNames(kubeProxyConfiguration).filter((field) => {
    const path = field.split('.');
    return isOfOthers(field) && !same(getField(config, path), getField(defaults, path));
  });
  return chosen.length === 0 ? [] : [`fields of other modes have no effect here: ${chosen.join(', ')}`];
}

/** Fields and sections that kube-proxy's ipvs mode on Linux does not look at. */
export const OTHER_MODES: readonly string[] = [
  'iptables.localhostNodePorts',
  'iptables.syncPeriod',
  'iptables.minSyncPeriod',
  'nftables',
  'winkernel',
  'windowsRunAsService',
];

/** A kube-proxy of the right release would know more gates or fewer; refusing them would break files that worked. */
function gateNotices(gates: Readonly<Record<string, boolean>>): string[] {
  const unknown = Object.keys(gates).filter((name) => !KNOWN_GATES.has(name));
  const notices = unknown.map((name) => `feature gate "${name}" is not known and has no effect`);
  if (gates.KubeProxyIPVS === false) notices.push('feature gate KubeProxyIPVS is false; this program runs ipvs anyway');
  return notices;
}
