import { type ApiObject, listOf, recordOf, valueAt } from './api-object.ts';

/** One column of a table; those of priority 1 are shown in wide output only. */
export interface Column {
  readonly name: string;
  readonly priority?: number;
  readonly cell: (object: ApiObject) => string;
}

const nameColumn: Column = { name: 'Name', cell: ({ metadata }) => metadata.name };
const ageColumn: Column = { name: 'Age', cell: ({ metadata }) => age(metadata.creationTimestamp) };

const serviceColumns: readonly Column[] = [
  nameColumn,
  { name: 'Type', cell: (service) => text(service, ['spec', 'type']) },
  { name: 'Cluster-IP', cell: (service) => text(service, ['spec', 'clusterIP']) },
  { name: 'External-IP', cell: externalIps },
  { name: 'Port(s)', cell: (service) => joined(listOf(valueAt(service, ['spec', 'ports'])).map(servicePort)) },
  ageColumn,
  { name: 'Selector', priority: 1, cell: (service) => joined(pairs(valueAt(service, ['spec', 'selector']))) },
];

const endpointSliceColumns: readonly Column[] = [
  nameColumn,
  { name: 'AddressType', cell: (slice) => text(slice, ['addressType']) },
  {
    name: 'Ports',
    cell: (slice) =>
      shortened(
        listOf(slice.ports).map((port) => String(recordOf(port).port ?? '*')),
        '<unset>',
      ),
  },
  {
    name: 'Endpoints',
    cell: (slice) =>
      shortened(
        listOf(slice.endpoints).flatMap((endpoint) => listOf(recordOf(endpoint).addresses).map(String)),
        '<unset>',
      ),
  },
  ageColumn,
];

const nodeColumns: readonly Column[] = [nameColumn, { name: 'Status', cell: nodeStatus }, ageColumn];

const eventColumns: readonly Column[] = [
  { name: 'Last Seen', cell: (event) => age(text(event, ['lastTimestamp'], '') || text(event, ['eventTime'], '')) },
  { name: 'Type', cell: (event) => text(event, ['type']) },
  { name: 'Reason', cell: (event) => text(event, ['reason']) },
  {
    name: 'Object',
    cell: (event) =>
      `${text(event, ['involvedObject', 'kind']).toLowerCase()}/${text(event, ['involvedObject', 'name'])}`,
  },
  { name: 'Message', cell: (event) => text(event, ['message'], '').trim() },
];

/** The columns of a kind; kinds without columns of their own show name and age. Source: kubernetes/kubernetes pkg/printers */
export function columnsOf(kind: string): readonly Column[] {
  const byKind: Readonly<Record<string, readonly Column[]>> = {
    Service: serviceColumns,
    EndpointSlice: endpointSliceColumns,
    Node: nodeColumns,
    Event: eventColumns,
  };
  return byKind[kind] ?? [nameColumn, ageColumn];
}

function text(object: unknown, path: readonly string[], absent = '<none>'): string {
  const value = valueAt(object, path);
  return value === undefined || value === null ? absent : String(value);
}

function externalIps(service: ApiObject): string {
  if (text(service, ['spec', 'type']) === 'ExternalName') return text(service, ['spec', 'externalName']);
  const ingress = listOf(valueAt(service, ['status', 'loadBalancer', 'ingress'])).map(recordOf);
  const balanced = ingress.map(({ ip, hostname }) => String(ip ?? hostname));
  const all = [...balanced, ...listOf(valueAt(service, ['spec', 'externalIPs'])).map(String)];
  return all.length === 0 && text(service, ['spec', 'type']) === 'LoadBalancer' ? '<pending>' : joined(all);
}

function servicePort(each: unknown): string {
  const { port, nodePort, protocol } = recordOf(each);
  return `${String(port)}${nodePort ? `:${String(nodePort)}` : ''}/${String(protocol)}`;
}

function nodeStatus(node: ApiObject): string {
  const ready = listOf(valueAt(node, ['status', 'conditions']))
    .map(recordOf)
    .find(({ type }) => type === 'Ready');
  const readiness = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return valueAt(node, ['spec', 'unschedulable']) === true ? `${readiness},SchedulingDisabled` : readiness;
}

function pairs(labels: unknown): readonly string[] {
  return Object.entries(recordOf(labels)).map(([key, value]) => `${key}=${String(value)}`);
}

function joined(texts: readonly string[]): string {
  return texts.length === 0 ? '<none>' : texts.join(',');
}

function shortened(texts: readonly string[], absent: string): string {
  if (texts.length === 0) return absent;
  return texts.length > 3 ? `${texts.slice(0, 3).join(',')} + ${texts.length - 3} more...` : texts.join(',');
}

/** How long ago, in the two largest units that say something. Source: k8s.io/apimachinery pkg/util/duration HumanDuration */
function age(timestamp: string | undefined): string {
  if (!timestamp) return '<unknown>';
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(timestamp)) / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86400)];
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return `${minutes}m${seconds % 60}s`;
  if (hours < 3) return `${minutes}m`;
  if (hours < 48) return `${hours}h`;
  return `${days}d`;
}
