/**
 * Chains of kube-proxy in ipvs mode and of this program, by table, with those of older releases.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/proxier.go, of 1.8 to 1.37
 */
const IPVS_MODE: Readonly<Record<string, readonly string[]>> = {
  nat: [
    'KUBE-SERVICES',
    'KUBE-POSTROUTING',
    'KUBE-NODE-PORT',
    'KUBE-LOAD-BALANCER',
    'KUBE-MARK-MASQ',
    'KUBE-FIRE-WALL',
    'KUBE-SVC-IPSETS',
  ],
  filter: [
    'KUBE-FORWARD',
    'KUBE-NODE-PORT',
    'KUBE-PROXY-FIREWALL',
    'KUBE-SOURCE-RANGES-FIREWALL',
    'KUBE-IPVS-FILTER',
    'KUBE-IPVS-OUT-FILTER',
    'KUBE-IPVS-ACCEPT',
  ],
};

/**
 * The same of kube-proxy in iptables mode.
 *
 * Source: kubernetes/kubernetes pkg/proxy/iptables/proxier.go
 */
const IPTABLES_MODE: Readonly<Record<string, readonly string[]>> = {
  nat: ['KUBE-SERVICES', 'KUBE-NODEPORTS', 'KUBE-POSTROUTING', 'KUBE-MARK-MASQ', 'KUBE-PROXY-CANARY'],
  filter: [
    'KUBE-SERVICES',
    'KUBE-EXTERNAL-SERVICES',
    'KUBE-NODEPORTS',
    'KUBE-FORWARD',
    'KUBE-PROXY-FIREWALL',
    'KUBE-PROXY-CANARY',
  ],
  mangle: ['KUBE-PROXY-CANARY'],
};

/** Each service port and endpoint has chains of its own: a kind and the start of a hash in base 32. */
const HASHED = /^KUBE-(?:SVC|SVL|SEP|FW|EXT|XLB)-[A-Z2-7]{16}$/;

export function isIpvsModeChain(table: string, chain: string): boolean {
  return (IPVS_MODE[table] ?? []).includes(chain);
}

export function isIptablesModeChain(table: string, chain: string): boolean {
  return (IPTABLES_MODE[table] ?? []).includes(chain) || (table === 'nat' && HASHED.test(chain));
}

/** Whether both modes have it. */
export function isSharedChain(table: string, chain: string): boolean {
  return isIpvsModeChain(table, chain) && isIptablesModeChain(table, chain);
}

export function isBuiltInChain(chain: string): boolean {
  return BUILT_IN.includes(chain);
}

const BUILT_IN = ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'];
