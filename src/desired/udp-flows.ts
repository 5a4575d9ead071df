import { type FlowEndKey, type FlowTargets, flowEndKey } from '../kernel/conntrack/state.ts';
import { type VirtualServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { OwnedFrontend } from './claims.ts';
import type { ServicePart } from './service-part.ts';

/**
 * UDP frontends whose flows have to be looked at, as their service ports have come, gone or changed since that was done last.
 *
 * Source: kubernetes/kubernetes pkg/proxy/conntrack/cleanup.go
 */
export class StaleFlows {
  readonly #frontends = new Map<FlowEndKey, VirtualServerKey>();

  /** One service port has taken the place of another one, or of none. */
  replace(old: ServicePart | undefined, now: ServicePart | undefined): void {
    for (const part of [old, now]) {
      if (part?.port.protocol !== 'UDP') continue;
      for (const { server } of part.fronts) this.#frontends.set(flowEndKey(server), virtualServerKey(server));
    }
  }

  /**
   * Who may answer flows to these frontends; empty when there are none. A frontend that is not wanted any more may be answered by its own
   * address only, as a flow that passes by is.
   */
  targets(owners: ReadonlyMap<VirtualServerKey, OwnedFrontend>): FlowTargets {
    return new Map(
      [...this.#frontends].map(([key, server]): readonly [FlowEndKey, ReadonlySet<FlowEndKey>] => {
        const owner = owners.get(server);
        return [key, owner ? answerersOf(owner.part) : new Set([key])];
      }),
    );
  }

  /** No flow to any of them is stale any more. */
  cleared(): void {
    this.#frontends.clear();
  }
}

/** All endpoints that serve or are in use, wherever they are: traffic policies and hints choose for new flows only. */
function answerersOf({ endpoints, fronts }: ServicePart): ReadonlySet<FlowEndKey> {
  const live = endpoints.filter(({ ready, serving }) => ready || serving);
  const inUse = fronts.flatMap(({ server }) => server.realServers);
  return new Set([...live, ...inUse].map(flowEndKey));
}
