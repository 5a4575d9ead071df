import type { EndpointExplanation } from '../explain/explain-endpoints.ts';
import type { ServerExplanation } from '../explain/explain-server.ts';
import type { Explanation, PortExplanation } from '../explain/explain-service.ts';
import type { MetRule } from '../explain/packet.ts';
import { describeProblem } from '../model/problem.ts';
import { formatChange } from './diff-output.ts';
import { formatRecord, type RecordForm } from './format-record.ts';

/** What is said of all Services alike. */
export interface Explained {
  readonly node: string;
  /** Where the scheduler is set, e.g. `--ipvs-scheduler`. */
  readonly schedulerFrom: string;
  readonly services: readonly Explanation[];
}

/** `text` is for people; `json` and `yaml` hold `{node, schedulerFrom, services}`. */
export function formatExplanation(explained: Explained, form: RecordForm): string {
  if (form !== 'text') return formatRecord(explained, form);
  return explained.services.map((service) => formatService(service, explained)).join('\n');
}

function formatService(service: Explanation, explained: Explained): string {
  const { affinitySeconds, healthChecks } = service;
  const affinity = affinitySeconds === 0 ? 'none' : `ClientIP, ${affinitySeconds} s`;
  const lines = [
    `Service ${service.service} on node ${explained.node}`,
    `  type ${service.type}, internalTrafficPolicy ${service.internalTrafficPolicy}, externalTrafficPolicy ${service.externalTrafficPolicy}, session affinity ${affinity}`,
    ...healthChecks.map(
      ({ port, family, localEndpoints }) =>
        `  health check port ${port}, ${family}: local endpoints: ${localEndpoints}`,
    ),
    ...service.notServed.map((why) => `  not served: ${why}`),
    ...service.ports.flatMap((port) => formatPort(port, explained)),
    ...(service.warnings.length === 0 ? [] : ['', '  Warnings']),
    ...service.warnings.map((problem) => `    ${describeProblem(problem)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function formatPort(port: PortExplanation, { schedulerFrom }: Explained): readonly string[] {
  const { servicePort, family, virtualServers, endpoints, kernel, hints } = port;
  const changes = kernel?.changes.map(formatChange) ?? [];
  const leftAlone = kernel?.leftAlone.map(({ thing, why }) => `= ${thing}: ${why}`) ?? [];
  return [
    '',
    `  ${servicePort}, ${family}`,
    ...virtualServers.flatMap((server) => formatServer(server, servicePort, schedulerFrom)),
    ...(virtualServers.length === 0 ? ['    no virtual server on this node'] : []),
    ...(endpoints.length === 0 ? ['    Endpoints: none'] : ['    Endpoints']),
    ...endpoints.map((endpoint) => `      ${formatEndpoint(endpoint)}`),
    ...(hints === 'ignored' ? [`      ${IGNORED_HINTS}`] : []),
    ...(kernel ? [changes.length === 0 ? '    Kernel: as wanted' : '    Kernel: differs; a pass would do this'] : []),
    ...[...changes, ...leftAlone].map((line) => `      ${line}`),
  ];
}

const IGNORED_HINTS =
  'hints do not count here: every ready endpoint has to have one, and one of them has to be for this node or its zone';

function formatServer(server: ServerExplanation, self: string, schedulerFrom: string): readonly string[] {
  const { virtualServer, from, field, owner, scheduler, schedulerFlags, persistenceSeconds, realServers } = server;
  const title = `    ${virtualServer}, ${NAMES[from]} (${field})`;
  if (owner !== self) return [title, `      not served for it: ${owner} has it`];
  const flags = schedulerFlags.length === 0 ? '' : `, flags ${schedulerFlags.join(',')}`;
  const persistence = persistenceSeconds === 0 ? '' : `, persistence ${persistenceSeconds} s`;
  return [
    title,
    `      policy ${server.policy}${server.policy === 'Local' && server.endpointsOf === 'cluster' ? ': none on this node is usable, so all of the cluster stand in' : ''}`,
    `      scheduler ${scheduler}${flags} (${schedulerFrom})${persistence}`,
    `      address ${server.bound ? 'bound on kube-ipvs0' : 'not bound: it is on an interface of this node'}`,
    realServers.length === 0
      ? '      real servers: none, so the kernel refuses connections (ICMP port unreachable)'
      : `      real servers: ${realServers.map(({ endpoint, weight }) => `${endpoint} weight ${weight}`).join(', ')}`,
    ...server.sets.map(({ set, entry }) => `      in set ${set}: ${entry}`),
    ...server.packets.flatMap(formatPacket),
  ];
}

const NAMES = {
  cluster: 'cluster address',
  external: 'external address',
  'load-balancer': 'load-balancer address',
  'node-port': 'node port',
} as const;

function formatPacket({
  who,
  source,
  outcome,
  masqueraded,
  met,
}: ServerExplanation['packets'][number]): readonly string[] {
  const answered = masqueraded
    ? 'masqueraded: the endpoint sees the node'
    : 'not masqueraded: the endpoint sees the client';
  const outcomes = {
    answered,
    dropped: 'dropped by a rule',
    rejected: 'rejected by a rule',
    refused: 'refused: there is no endpoint',
  };
  return [`      from ${who} (${source}): ${outcomes[outcome]}`, ...met.map((rule) => `        ${formatRule(rule)}`)];
}

function formatRule({ table, chain, set, target }: MetRule): string {
  return `${table} ${chain}${set === undefined ? '' : `, in ${set}`} → ${target}`;
}

function formatEndpoint(explained: EndpointExplanation): string {
  const { endpoint, node, conditions, cluster, local, passedOver, hints } = explained;
  const zones = hints.zones.length === 0 ? '' : `, for zones ${hints.zones.join(' ')}`;
  const nodes = hints.nodes.length === 0 ? '' : `, for nodes ${hints.nodes.join(' ')}`;
  const facts = `${endpoint} on ${node ?? 'an unknown node'} (${conditions.join(', ') || 'no condition holds'}${zones}${nodes})`;
  if (passedOver !== undefined) return `- ${facts}: left out: ${passedOver}`;
  const lists = [
    ['policy Cluster', cluster],
    ['policy Local', local],
  ].filter(([, reason]) => reason !== undefined);
  const isChosen = lists.some(([, reason]) => reason === 'chosen');
  const said = lists.map(([name, reason]) => (lists.length === 1 ? reason : `${name}: ${reason}`)).join('; ');
  return `${isChosen ? '+' : '-'} ${facts}: ${isChosen || lists.length > 1 ? said : `left out: ${said}`}`;
}
