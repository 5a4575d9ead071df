import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { KernelState } from '../kernel/state.ts';
import type { ServicePortKey } from '../model/names.ts';
import type { Problem } from '../model/problem.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { OwnedFrontend } from './claims.ts';
import type { HealthCheck } from './health-checks.ts';
import type { NodeInputs } from './node-inputs.ts';
import type { RuleInputs } from './rule-inputs.ts';
import type { ServicePart } from './service-part.ts';

/** Where an address that is not served here any more belongs to somebody else, the node must not keep it for a while. */
export function isElsewhere({ node, proxied }: Pick<Desired, 'node' | 'proxied'>, address: IpAddress): boolean {
  return node.otherNodeAddresses.has(address) || proxied.has(address);
}

/** Everything that is wanted of one family. */
export interface Desired {
  readonly kernel: KernelState;
  /** One for each Service that asks for one, sorted by Service. */
  readonly healthChecks: readonly HealthCheck[];
  /** Frontends that two service ports claim, and addresses that cannot be served. */
  readonly problems: readonly Problem[];
  readonly node: NodeInputs;
  readonly rules: RuleInputs;
  readonly parts: ReadonlyMap<ServicePortKey, ServicePart>;
  /** Addresses that a Service leaves to its load balancer; another Service may have them served here all the same. */
  readonly proxied: ReadonlySet<IpAddress>;
  /** Who has which frontend. */
  readonly owners: ReadonlyMap<VirtualServerKey, OwnedFrontend>;
}
