import type { Cidr } from '../net/cidr.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** `documented` follows the Kubernetes API where kube-proxy's ipvs mode departs from it; `kube-proxy` gives its exact result. */
export type Behaviour = 'documented' | 'kube-proxy';

/** How traffic from Pods of this cluster is told from other traffic. */
export type DetectLocal =
  | { readonly kind: 'cluster-cidr'; readonly cidrs: readonly Cidr[] }
  | { readonly kind: 'node-cidr' }
  | { readonly kind: 'bridge-interface'; readonly name: string }
  | { readonly kind: 'interface-name-prefix'; readonly prefix: string };

/** Weights of real servers, 0–65535 each, as conditions of their endpoints ask for. */
export interface ConditionWeights {
  /** Ready and serving. */
  readonly ready: number;
  /** Ready by `publishNotReadyAddresses` only. */
  readonly readyNotServing: number;
  /** Not ready; 0 keeps connections and takes no new ones. */
  readonly notReady: number;
}

/** The settings that decide what kernel state is wanted. */
export interface ProxySettings {
  readonly behaviour: Behaviour;
  /** A scheduler's name as the kernel knows it, e.g. `rr`. */
  readonly scheduler: string;
  /** As `ipvsadm -b` takes them, e.g. `sh-port`; `undefined` for those that kube-proxy gives the scheduler. */
  readonly schedulerFlags: readonly string[] | undefined;
  /** Weights by the condition of an endpoint; `undefined` gives every endpoint 1. */
  readonly weights: ConditionWeights | undefined;
  readonly masqueradeAll: boolean;
  /** Bit of the packet mark that asks for masquerading, 0–31. */
  readonly masqueradeBit: number;
  /** Whether this node's iptables knows `--random-fully`. */
  readonly randomFully: boolean;
  readonly detectLocal: DetectLocal;
  /** Where node ports are served; empty for every address. `primary` stands for the first address of each family that the Node object names. */
  readonly nodePortAddresses: readonly (Cidr | 'primary')[];
  /** Counts as the node's address of its family, whatever the Node object says. */
  readonly nodeAddress: IpAddress | undefined;
  /** Virtual servers with such an address are never deleted. */
  readonly excludeCIDRs: readonly Cidr[];
  /** Entries that each hash set has room for; doubled as often as one needs more. */
  readonly setRoom: number;
}
