import type { ProxySettings, DetectLocal as WantedDetectLocal } from '../desired/settings.ts';
import { isUnspecified } from '../net/ip-address.ts';
import type { ProxyConfig } from './proxy-config.ts';

/** What the wanted kernel state depends on, out of the whole configuration. `randomFully`: this node's iptables knows the option. */
export function proxySettings(config: ProxyConfig, randomFully: boolean): ProxySettings {
  return {
    behaviour: config.behaviour,
    scheduler: config.ipvs.scheduler,
    schedulerFlags: config.schedulerFlags,
    weights: config.weightPolicy === 'byCondition' ? config.weights : undefined,
    masqueradeAll: config.iptables.masqueradeAll,
    masqueradeBit: config.iptables.masqueradeBit,
    randomFully,
    detectLocal: detectLocal(config),
    nodePortAddresses: config.nodePortAddresses,
    nodeAddress: isUnspecified(config.bindAddress) ? undefined : config.bindAddress,
    excludeCIDRs: config.ipvs.excludeCIDRs,
    setRoom: config.sets.maxEntries,
  };
}

function detectLocal({ detectLocal: detect, clusterCIDRs }: ProxyConfig): WantedDetectLocal {
  switch (detect.mode) {
    case 'ClusterCIDR':
      return { kind: 'cluster-cidr', cidrs: clusterCIDRs };
    case 'NodeCIDR':
      return { kind: 'node-cidr' };
    case 'BridgeInterface':
      return { kind: 'bridge-interface', name: detect.bridgeInterface };
    case 'InterfaceNamePrefix':
      return { kind: 'interface-name-prefix', prefix: detect.interfaceNamePrefix };
  }
}
