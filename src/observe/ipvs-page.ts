import { type CounterRow, parseConnections, parseIpvsCounters } from '../kernel/ipvs/parse-counters.ts';
import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServicePort } from '../model/service-port.ts';
import type { Pace } from './pace.ts';
import { SeriesTable } from './series-table.ts';

/** The counters of the kernel as its tools and files print them. */
export interface IpvsTexts {
  readonly counters: string;
  readonly connections: string;
}

/** How far the page goes: nothing, one series a virtual server, or one a real server too. */
export const IPVS_DETAILS = ['off', 'services', 'backends'] as const;
export type IpvsDetail = (typeof IPVS_DETAILS)[number];

/** Who has a frontend; `undefined` for what is not ours. */
export type OwnerOf = (frontend: VirtualServerKey) => ServicePort | undefined;

/**
 * Metrics of IPVS, in pieces, with pauses in between: with thousands of Services the page has some ten megabytes. A text that is not
 * understood gives nothing at all.
 */
export async function* ipvsPage(
  { counters, connections }: IpvsTexts,
  detail: IpvsDetail,
  ownerOf: OwnerOf,
  pace: Pace,
): AsyncGenerator<Buffer> {
  if (detail === 'off') return;
  const servers = new SeriesTable(COUNTERS.length);
  const reals = new SeriesTable(COUNTERS.length);
  const labels = new Labels(ownerOf);
  for (const row of parseIpvsCounters(counters)) {
    const rest = pace();
    if (rest) await rest;
    if (!row) return;
    if (row.backend !== undefined && detail === 'services') continue;
    const text = labels.of(row);
    if (text !== undefined) (row.backend === undefined ? servers : reals).add(text, row.values);
  }
  for (const [index, [name, help]] of COUNTERS.entries()) {
    const metrics = [
      [`ipvs_proxier_virtual_server_${name}`, `${help} of a virtual server`, servers],
      [`ipvs_proxier_real_server_${name}`, `${help} of a real server`, reals],
    ] as const;
    for (const [fullName, fullHelp, table] of metrics) yield* metric('counter', fullName, fullHelp, table, index, pace);
  }
  if (detail === 'services') return;
  const standing = new SeriesTable(CONNECTIONS.length);
  for (const row of parseConnections(connections)) {
    const rest = pace();
    if (rest) await rest;
    const text = labels.of(row);
    if (text !== undefined) standing.add(text, row.values);
  }
  for (const [index, [name, help]] of CONNECTIONS.entries()) {
    yield* metric('gauge', `ipvs_proxier_real_server_${name}`, `${help} of a real server`, standing, index, pace);
  }
}

/** In the order of `parseIpvsCounters`. */
const COUNTERS = [
  ['connections_total', 'Connections'],
  ['incoming_packets_total', 'Packets from clients'],
  ['outgoing_packets_total', 'Packets to clients'],
  ['incoming_bytes_total', 'Bytes from clients'],
  ['outgoing_bytes_total', 'Bytes to clients'],
] as const;

/** In the order of `parseConnections`. */
const CONNECTIONS = [
  ['active_connections', 'Established connections'],
  ['inactive_connections', 'Connections that are neither new nor established'],
] as const;

const LINES_A_PIECE = 500;

/** Nothing for a metric without values. */
async function* metric(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  series: SeriesTable,
  index: number,
  pace: Pace,
): AsyncGenerator<Buffer> {
  for (let start = 0; start < series.size; start += LINES_A_PIECE) {
    const head = start === 0 ? `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n` : '';
    yield series.lines(head, name, index, start, Math.min(start + LINES_A_PIECE, series.size));
    await pace();
  }
}

/** Names of Services and ports, protocols and addresses need no escaping. Rows of one frontend come one after the other. */
class Labels {
  readonly #ownerOf: OwnerOf;
  #frontend: VirtualServerKey | undefined;
  #common: string | undefined;

  constructor(ownerOf: OwnerOf) {
    this.#ownerOf = ownerOf;
  }

  of({ frontend, backend }: CounterRow): string | undefined {
    if (frontend !== this.#frontend) {
      this.#frontend = frontend;
      const owner = this.#ownerOf(frontend);
      this.#common = owner && commonLabels(owner, frontend);
    }
    if (this.#common === undefined) return undefined;
    return backend === undefined ? `{${this.#common}}` : `{${this.#common},backend="${backend}"}`;
  }
}

function commonLabels({ key, service, protocol }: ServicePort, frontend: VirtualServerKey): string {
  const slash = service.indexOf('/');
  const [namespace, name] = [service.slice(0, slash), service.slice(slash + 1)];
  const portName = key.slice(service.length + 1, key.lastIndexOf('/'));
  const address = frontend.slice(frontend.indexOf(' ') + 1);
  return `namespace="${namespace}",service="${name}",port="${portName}",protocol="${protocol}",frontend="${address}"`;
}
