import { renderRule } from '../kernel/iptables/rule.ts';
import type { ReadTables, RuleText, WantedTables } from '../kernel/iptables/state.ts';
import { type IpvsState, type RealServer, realServerKey, type VirtualServer } from '../kernel/ipvs/state.ts';
import type { Family } from '../net/family.ts';
import { CLOSING, rulesClosing } from './closed-frontends.ts';
import type { Refused } from './refused.ts';
import { byServer } from './refused-servers.ts';

/**
 * Virtual servers that would send new clients to nobody but real servers that were to go, which the kernel neither lets go of nor gives
 * weight 0. `reduced`: what is wanted for now, with what stays of them.
 */
export function servedInVain(
  desired: IpvsState,
  reduced: IpvsState,
  refused: readonly Refused[],
): readonly VirtualServer[] {
  return [...byServer(refused).keys()].flatMap((key) => {
    const server = reduced.get(key);
    const left = serving(server);
    const wanted = new Set(serving(desired.get(key)).map(realServerKey));
    return server && left.length > 0 && !left.some((real) => wanted.has(realServerKey(real))) ? [server] : [];
  });
}

function serving(server: VirtualServer | undefined): readonly RealServer[] {
  return server?.realServers.filter(({ weight }) => weight > 0) ?? [];
}

/**
 * Wants rules that refuse new connections to these, before IPVS sees them and whatever set has an entry for them. The port is that of
 * connection tracking, which needs no module for each protocol. The node's own processes reach IPVS without meeting them; what closes one
 * to these, as it stands, stays.
 */
export function withRefusals(
  tables: WantedTables,
  servers: readonly VirtualServer[],
  family: Family,
  standing: ReadTables | undefined,
): WantedTables {
  const rules = tables.filter.chains.get(ACCESS);
  if (servers.length === 0 || !rules) return tables;
  const refusing = servers.map((server) => refusal(server, family)).sort();
  const closing = tables.filter.chains.get(CLOSING) ?? [];
  const left = rulesClosing(standing?.filter, servers).filter((rule) => !closing.includes(rule));
  const chains = new Map(tables.filter.chains).set(ACCESS, [...refusing, ...rules]);
  if (left.length > 0) chains.set(CLOSING, [...left, ...closing]);
  return { ...tables, filter: { ...tables.filter, chains } };
}

/** Asked before IPVS in INPUT. */
const ACCESS = 'KUBE-IPVS-FILTER';

function refusal({ address, protocol, port }: VirtualServer, family: Family): RuleText {
  return renderRule(
    {
      matches: [
        { kind: 'destination', of: address },
        { kind: 'protocol', protocol },
        { kind: 'new-to-port', port },
      ],
      target: { kind: protocol === 'TCP' ? 'reset' : 'reject' },
    },
    family,
  );
}
