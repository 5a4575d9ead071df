import type { Link } from '../kernel/dummy/parse-links.ts';
import type { EveryTable } from '../kernel/iptables/state.ts';
import type { IpvsState } from '../kernel/ipvs/state.ts';
import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import type { Result } from '../model/result.ts';
import type { Cidr } from '../net/cidr.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** Something read from the node, or one line that says why it could not be. */
export type Fact<T> = Result<T, string>;

/** Whether the kernel has something: in use, built in or loaded; a module that can be loaded; not at all. */
export type Availability = 'there' | 'loadable' | 'missing';

export const RULE_BACK_ENDS = ['legacy', 'nft'] as const;
export type RuleBackEnd = (typeof RULE_BACK_ENDS)[number];

/** What a tool said when it was asked for its version. */
export type ToolAnswer =
  | { readonly kind: 'version'; readonly text: string }
  | { readonly kind: 'missing'; readonly package: string }
  | { readonly kind: 'failed'; readonly why: string };

/** IPVS as the kernel shows it in a file. */
export interface IpvsFacts {
  /** May lack virtual servers where several network namespaces have some. */
  readonly servers: IpvsState;
  /** Active and inactive ones together. */
  readonly connections: number;
  /** Buckets of the table of connections are 2 to the power of this; the machine's, not the namespace's. */
  readonly tableBits: Fact<number>;
}

/** A line of a file that `sysctl --system` reads at the start of the machine. */
export interface SysctlLine {
  readonly file: string;
  readonly line: number;
  /** As below `/proc/sys/`. */
  readonly path: string;
  readonly value: string;
}

/** Who holds the node's lock. */
export interface RunningProxier {
  readonly command: string;
  readonly version: string;
  readonly pid: number;
}

export interface ApiServerFacts {
  /** E.g. `https://10.96.0.1:443`. */
  readonly url: string;
  /** Addresses of its host, also where that is a name. */
  readonly addresses: Fact<readonly IpAddress[]>;
  /** Whether a connection to it could be opened. */
  readonly connection: Fact<void>;
  /** Whether the daemon says who it is. */
  readonly credentials: 'given' | 'none';
}

/** Everything that is looked at on a node. */
export interface NodeFacts {
  /** `uname -r` */
  readonly kernelRelease: string;
  /** `undefined` when IPVS is not in use. */
  readonly ipvs: Fact<IpvsFacts | undefined>;
  readonly ipvsModule: Fact<Availability>;
  readonly schedulerModule: Fact<Availability>;
  readonly hasIpv6: boolean;
  /** By name. */
  readonly tools: ReadonlyMap<string, ToolAnswer>;
  readonly rules: Readonly<Record<RuleBackEnd, Readonly<Record<Family, Fact<EveryTable>>>>>;
  /** Why programs outside this container do not share the lock of legacy rules, if they do not. */
  readonly ruleLock: string | undefined;
  /** What `nft list tables` prints; empty where the kernel has no such tables. */
  readonly nftTables: Fact<string>;
  readonly links: Fact<readonly Link[]>;
  /** Interfaces by which default routes leave. */
  readonly uplinks: Fact<ReadonlySet<string>>;
  /** By path below `/proc/sys/`; `undefined` where there is no such file. What could not be read is not in it. */
  readonly sysctls: ReadonlyMap<string, string | undefined>;
  readonly sysctlLines: Fact<readonly SysctlLine[]>;
  readonly proxier: Fact<RunningProxier | undefined>;
  /** TCP ports on which somebody listens. */
  readonly listening: Fact<ReadonlySet<number>>;
  /** What answers at kube-proxy's `/proxyMode`, if anybody does. */
  readonly proxyMode: string | undefined;
  /** `undefined` where nothing says which one it is. */
  readonly apiServer: Fact<ApiServerFacts | undefined>;
}

/** What the daemon does on this node with the configuration that was given. */
export interface Wishes {
  readonly scheduler: string;
  readonly unknownScheduler: 'stop' | 'round-robin';
  readonly connReuseMode: number | undefined;
  readonly strictArp: boolean;
  /** What it writes. */
  readonly sysctls: readonly SysctlSetting[];
  /** Where it listens. */
  readonly ports: readonly { readonly server: 'health' | 'metrics'; readonly port: number }[];
  readonly clusterCIDRs: readonly Cidr[];
}
