import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { ApiServerFacts, NodeFacts } from './facts.ts';
import { type Checked, type Finding, found, NOTHING_FOUND, notChecked, together } from './finding.ts';

type Facts = Pick<NodeFacts, 'apiServer' | 'links' | 'ipvs'>;

/** Whether the API server is reached, and without what the daemon itself has to program first. */
export function checkApiServer(facts: Facts): Checked {
  const { apiServer } = facts;
  if (!apiServer.ok) return notChecked('the API server', apiServer.error);
  if (!apiServer.value) {
    return notChecked('the API server', 'no kubeconfig, no master, and no service account of a Pod says where it is');
  }
  return together([
    checkAddress(facts, apiServer.value),
    checkConnection(apiServer.value),
    checkCredentials(apiServer.value),
  ]);
}

function checkAddress(facts: Facts, { url, addresses }: ApiServerFacts): Checked {
  if (!addresses.ok) return notChecked(`the address of ${url}`, addresses.error);
  const own = ownAddresses(facts);
  const through = addresses.value.find((address) => own.has(address));
  if (through === undefined) return NOTHING_FOUND;
  return found({
    level: 'error',
    id: 'api-through-service',
    saw: `${url} is ${through}, which is a Service that this node serves itself`,
    matters:
      'the daemon needs the API server to program the very Service that leads there: after a restart of the node it never can',
    remedy: 'an address of the control plane: server in the kubeconfig, --master, or apiServer.url of the chart',
  });
}

function ownAddresses({ links, ipvs }: Facts): ReadonlySet<IpAddress> {
  const bound = links.ok ? links.value.filter(({ name }) => name === DUMMY_INTERFACE) : [];
  const servers = ipvs.ok ? (ipvs.value?.servers.values() ?? []) : [];
  const nodes = links.ok ? links.value.filter(({ name }) => name !== DUMMY_INTERFACE) : [];
  const ofNode = new Set(nodes.flatMap(({ addresses }) => addresses.map(({ address }) => address)));
  return new Set([
    ...bound.flatMap(({ addresses }) => addresses.map(({ address }) => address)),
    ...[...servers].map(({ address }) => address).filter((address) => !ofNode.has(address)),
  ]);
}

function checkConnection({ url, connection, addresses }: ApiServerFacts): Checked {
  if (connection.ok) return NOTHING_FOUND;
  const where = addresses.ok && addresses.value.length > 0 ? ` (${addresses.value.join(', ')})` : '';
  const finding: Finding = {
    level: 'error',
    id: 'api-unreachable',
    saw: `no connection to ${url}${where}: ${connection.error}`,
    matters: 'the daemon learns nothing of Services; what is programmed stays',
    remedy: 'the address in the kubeconfig, routes and firewalls of this node; apiServers names others to try',
  };
  return found(finding);
}

function checkCredentials({ url, credentials }: ApiServerFacts): Checked {
  if (credentials === 'given') return NOTHING_FOUND;
  return found({
    level: 'warning',
    id: 'api-anonymous',
    saw: `there are no credentials for ${url}`,
    matters:
      'requests are anonymous, and an API server seldom lets those list Services: the daemon learns nothing of them',
    remedy: 'a user with a certificate, a token or a plugin, which the current context of the kubeconfig names',
  });
}
