import type { Host } from './apply/host.ts';
import { PROC_IPVS } from './apply/read-ipvs.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { blocksOf } from './kernel/ipvs/listing.ts';
import { parseStanding, type ServerStanding } from './kernel/ipvs/parse-standing.ts';
import { type VirtualServerKey, virtualServerKey } from './kernel/ipvs/state.ts';
import type { ServiceName } from './model/names.ts';
import { formatTime } from './observe/health-answer.ts';
import type { Page } from './observe/metrics-answer.ts';
import { newPace } from './observe/pace.ts';
import type { DaemonStatus, DrainStatus, StatusTotals } from './observe/status.ts';
import type { Observers } from './observers.ts';
import type { Clock } from './queue/clock.ts';
import type { Proxier } from './sync/proxier.ts';
import { type FamilyView, type OwnPart, partsByService, partsOf, serviceStatus } from './sync/service-status.ts';

export interface StatusParts {
  readonly config: Pick<ProxyConfig, 'behaviour'>;
  readonly version: string;
  readonly startedMs: number;
  readonly observers: Pick<Observers, 'status'>;
  readonly proxier: Pick<Proxier, 'interfaces' | 'record' | 'views'>;
  readonly host: Host;
  readonly clock: Clock;
  readonly wallMs: () => number;
}

/**
 * The daemon's own word of how it is. Without Services it is memory alone. With them one file of the kernel is read, at most once a
 * second whoever asks, and the work is done in slices, so that passes go on beside it.
 */
export class StatusPage {
  readonly #parts: StatusParts;
  #reading: { readonly atMs: number; readonly text: Promise<string> } | undefined;

  constructor(parts: StatusParts) {
    this.#parts = parts;
  }

  /** `asked`: `all`, or `namespace/name`. `undefined` when there is no such Service. */
  page(asked: string | undefined): Page | undefined {
    const { views } = this.#parts.proxier;
    const status = this.#status(views);
    if (asked === undefined) return onePiece(`${JSON.stringify(status)}\n`);
    if (asked === 'all') return this.#withServices(status, partsByService(views));
    const parts = partsOf(views, asked);
    return parts.length > 0 ? this.#withServices(status, new Map([[asked as ServiceName, parts]])) : undefined;
  }

  #status(views: readonly FamilyView[]): DaemonStatus {
    const { config, version, startedMs, observers, proxier, clock, wallMs } = this.#parts;
    const { scheduler, ...observed } = observers.status();
    return {
      version,
      node: proxier.record.nodeView(proxier.interfaces).name,
      mode: 'ipvs',
      behaviour: config.behaviour,
      scheduler,
      startedAt: formatTime(startedMs),
      uptimeSeconds: Math.floor((wallMs() - startedMs) / 1000),
      totals: totalsOf(views),
      draining: longestDrains(views, clock.nowMs()),
      ...observed,
    };
  }

  async *#withServices(status: DaemonStatus, services: ReadonlyMap<ServiceName, readonly OwnPart[]>): Page {
    const { clock } = this.#parts;
    const pace = newPace();
    const standing = await this.#standing(services);
    yield `${JSON.stringify(status).slice(0, -1)},"services":[`;
    let separator = '';
    for (const [name, parts] of services) {
      const described = serviceStatus(name, parts, (key) => standing.get(key), clock.nowMs());
      yield `${separator}${JSON.stringify(described)}`;
      separator = ',';
      const rest = pace();
      if (rest) await rest;
    }
    yield ']}\n';
  }

  /** What the kernel says of the virtual servers of these Services; nothing where it cannot be read. */
  async #standing(services: ReadonlyMap<ServiceName, readonly OwnPart[]>) {
    const wanted = new Set<VirtualServerKey>();
    for (const parts of services.values()) {
      for (const { part } of parts) for (const { server } of part.fronts) wanted.add(virtualServerKey(server));
    }
    const pace = newPace();
    const standing = new Map<VirtualServerKey, ServerStanding['reals']>();
    for (const block of blocksOf(await this.#read())) {
      const read = parseStanding(block, wanted);
      if (read) standing.set(read.key, read.reals);
      const rest = pace();
      if (rest) await rest;
    }
    return standing;
  }

  #read(): Promise<string> {
    const { host, clock } = this.#parts;
    const nowMs = clock.nowMs();
    if (!this.#reading || nowMs - this.#reading.atMs >= FRESH_MS) {
      const text = host.readText(PROC_IPVS).then((read) => (read.ok ? read.value : ''));
      this.#reading = { atMs: nowMs, text };
      // A text of megabytes is not kept for those who may never ask again.
      clock.after(FRESH_MS, () => {
        this.#reading = undefined;
      });
    }
    return this.#reading.text;
  }
}

const FRESH_MS = 1000;

async function* onePiece(text: string): Page {
  yield text;
}

function totalsOf(views: readonly FamilyView[]): StatusTotals {
  const sum = (count: (view: FamilyView) => number) => views.reduce((total, view) => total + count(view), 0);
  const services = new Set<ServiceName>();
  for (const { desired } of views) for (const { port } of desired?.parts.values() ?? []) services.add(port.service);
  return {
    services: services.size,
    servicePorts: sum(({ desired }) => desired?.parts.size ?? 0),
    virtualServers: sum(({ desired }) => desired?.owners.size ?? 0),
    realServers: sum(({ desired }) => {
      let total = 0;
      for (const { front } of desired?.owners.values() ?? []) total += front.server.realServers.length;
      return total;
    }),
    draining: sum(({ drains }) => drains.values().reduce((total, { length }) => total + length, 0)),
  };
}

function longestDrains(views: readonly FamilyView[], nowMs: number): readonly DrainStatus[] {
  return views
    .flatMap(({ drains }) => [...drains.values()].flat())
    .sort((one, other) => one.sinceMs - other.sinceMs)
    .slice(0, MOST_DRAINS)
    .map(({ server, real, sinceMs }) => ({
      virtualServer: server,
      realServer: real,
      seconds: Math.round((nowMs - sinceMs) / 1000),
    }));
}

const MOST_DRAINS = 100;
