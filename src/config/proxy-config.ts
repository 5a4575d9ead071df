import type { ConntrackLimits } from '../kernel/sysctl/conntrack.ts';
import type { Cidr } from '../net/cidr.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { QueueSettings } from '../queue/settings.ts';
import type { BindAddress } from './bind-address.ts';
import type { NodePortAddress } from './node-port-addresses.ts';

/**
 * The configuration in force: file and flags merged, defaults filled in, checked, deeply frozen. Fields are named and nested
 * as in the file, durations in milliseconds. What other modes alone use is left out.
 */
export interface ProxyConfig {
  /** Where kube-proxy's ipvs mode departs from the documented API: which of the two is followed. */
  readonly behaviour: 'documented' | 'kube-proxy';
  readonly weightPolicy: 'uniform' | 'byCondition';
  /** They count under policy byCondition only. */
  readonly weights: WeightsConfig;
  /** As given; all are flags of the scheduler. `undefined` = those that kube-proxy gives. */
  readonly schedulerFlags: readonly string[] | undefined;
  /** Where the kernel lacks the scheduler: whether the start ends, or `rr` serves without flags. */
  readonly unknownScheduler: 'stop' | 'round-robin';
  /** Whether IPVS takes a TCP connection whose start it has not seen; `undefined` = leave as it is, here and in the next one. */
  readonly sloppyTCP: boolean | undefined;
  readonly sloppySCTP: boolean | undefined;
  /** Whether the kernel estimates rates in IPVS; `undefined` = leave as it is. */
  readonly runEstimation: boolean | undefined;
  /** 0–3; `undefined` = by the release of the kernel. */
  readonly connReuseMode: number | undefined;
  /** Whether addresses of other Nodes are asked for, so that none of them is bound here; never under behaviour `kube-proxy`. */
  readonly otherNodes: 'watched' | 'ignored';
  /** URLs of the same API server, used in turn when the one of the kubeconfig does not answer. */
  readonly apiServers: readonly string[];
  /** How long connections to real servers that are not wanted any more may last; 0 = no limit. */
  /** Room of each hash set; one that needs more gets it. */
  readonly sets: { readonly maxEntries: number };
  readonly draining: { readonly limitMs: number; readonly ofDeletedServices: boolean };
  /** How soon changes reach the kernel, and how often failed ones are tried again; never impossible for the queue. */
  readonly queue: QueueSettings;
  readonly featureGates: Readonly<Record<string, boolean>>;
  readonly clientConnection: ClientConnection;
  /** API server address that replaces the kubeconfig's. */
  readonly master: string | undefined;
  /** Without a format, where the log goes decides. */
  readonly logging: { readonly format: 'text' | 'json' | undefined; readonly verbosity: number };
  /** Trimmed and lower-cased; without it the host name is the node's name. */
  readonly hostnameOverride: string | undefined;
  /** Overrides the node's IP of its family unless 0.0.0.0 or ::; nothing listens on it. */
  readonly bindAddress: IpAddress;
  /** `undefined` when the server is switched off. */
  readonly healthzBindAddress: BindAddress | undefined;
  /** `undefined` when the server is switched off. */
  readonly metricsBindAddress: BindAddress | undefined;
  readonly bindAddressHardFail: boolean;
  readonly enableProfiling: boolean;
  /** `1.36`, or empty. */
  readonly showHiddenMetricsForVersion: string;
  /** A full pass runs at the latest this long after the one before. */
  readonly syncPeriodMs: number;
  /** Least time from one pass to the next; 0 = none. Never longer than `syncPeriodMs`. */
  readonly minSyncPeriodMs: number;
  readonly iptables: { readonly masqueradeBit: number; readonly masqueradeAll: boolean };
  readonly ipvs: IpvsConfig;
  readonly detectLocal: DetectLocal;
  /** In mode ClusterCIDR at most one a family. */
  readonly clusterCIDRs: readonly Cidr[];
  /** Empty = every local address. */
  readonly nodePortAddresses: readonly NodePortAddress[];
  readonly oomScoreAdj: number;
  readonly conntrack: ConntrackLimits;
  readonly configSyncPeriodMs: number;
  /** Flags, without dashes, that were given but do not count because a file was given too. To be logged once. */
  readonly ignoredFlags: readonly string[];
  /** Sentences about accepted settings that do not do what one might think. To be logged once. */
  readonly notices: readonly string[];
}

export interface ClientConnection {
  /** Path; without it and without `master` the service account of the pod is used. */
  readonly kubeconfig: string | undefined;
  readonly acceptContentTypes: string;
  readonly contentType: string;
  /** Requests a second; below 0 = no limit. */
  readonly qps: number;
  readonly burst: number;
}

/** Weights of real servers, 0–65535, by the condition of their endpoints. */
export interface WeightsConfig {
  readonly ready: number;
  readonly readyNotServing: number;
  readonly notReady: number;
}

export interface IpvsConfig {
  readonly scheduler: string;
  /** Virtual servers inside these are not touched by clean-up. */
  readonly excludeCIDRs: readonly Cidr[];
  readonly strictARP: boolean;
  /** Idle time of TCP connections in the kernel's IPVS table; 0 = leave as it is, here and in the next two. */
  readonly tcpTimeoutMs: number;
  readonly tcpFinTimeoutMs: number;
  readonly udpTimeoutMs: number;
}

/** How traffic that comes from pods of this node is told apart. Names are never empty. */
export type DetectLocal =
  | { readonly mode: 'ClusterCIDR' }
  | { readonly mode: 'NodeCIDR' }
  | { readonly mode: 'BridgeInterface'; readonly bridgeInterface: string }
  | { readonly mode: 'InterfaceNamePrefix'; readonly interfaceNamePrefix: string };
