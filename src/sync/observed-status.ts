import type { Family } from '../net/family.ts';
import { formatTime } from '../observe/health-answer.ts';
import type { ProxyHealth } from '../observe/proxy-health.ts';
import type { DaemonStatus, HealthStatus, QuarantineStatus, ResourceStatus } from '../observe/status.ts';
import type { WatchReading } from '../observe/watch-metrics-page.ts';
import type { QuarantinedService } from '../queue/quarantine.ts';
import type { WaitingService } from '../queue/queue-entry.ts';
import type { PassHistory } from './pass-history.ts';

/** What those who watch the program at work tell of it. */
export type ObservedStatus = Pick<
  DaemonStatus,
  'scheduler' | 'health' | 'queue' | 'passes' | 'drift' | 'quarantine' | 'apiServer'
>;

export interface ObservedSources {
  readonly families: readonly Family[];
  readonly scheduler: string;
  readonly health: Pick<ProxyHealth, 'read' | 'isNodeEligible'>;
  readonly history: PassHistory;
  readonly passes: { readonly full: number; readonly normal: number; readonly failed: number };
  readonly repaired: Readonly<Record<string, number>>;
  readonly waiting: readonly WaitingService[];
  readonly quarantined: readonly QuarantinedService[];
  readonly resources: ReadonlyMap<string, WatchReading>;
  readonly troubles: ReadonlyMap<string, string>;
  /** By the clock of the queue. */
  readonly nowMs: number;
  /** Milliseconds since 1970 for a time by that clock. */
  readonly wallMsOf: (clockMs: number) => number;
}

export function observedStatus(sources: ObservedSources): ObservedStatus {
  const { scheduler, health, history, passes, repaired, waiting } = sources;
  const { latest, notable, noticed } = history;
  return {
    scheduler,
    health: healthStatus(health),
    queue: { waiting: waiting.length, byLevel: countBy(waiting.map(({ level }) => level)) },
    passes: { ...passes, ...(latest ? { latest } : {}), notable },
    drift: { noticed, repaired },
    quarantine: quarantineStatus(sources),
    apiServer: [...sources.resources].map(([resource, reading]) => resourceStatus(resource, reading, sources)),
  };
}

function healthStatus(health: ObservedSources['health']): HealthStatus {
  const { healthy, families } = health.read('healthy');
  return {
    healthy,
    live: health.read('live').healthy,
    nodeEligible: health.isNodeEligible,
    families: Object.fromEntries(
      [...families].map(([family, state]) => [
        family,
        { healthy: state.healthy, lastUpdated: formatTime(state.lastUpdatedMs) },
      ]),
    ),
  };
}

function quarantineStatus({
  quarantined,
  waiting,
  history,
  nowMs,
  wallMsOf,
}: ObservedSources): readonly QuarantineStatus[] {
  const due = new Map(waiting.map(({ service, dueMs }) => [service, dueMs]));
  return quarantined.map(({ service, sinceMs, failures }) => {
    const [why, dueMs] = [history.whyRefused(service), due.get(service)];
    const isTimed = dueMs !== undefined && Number.isFinite(dueMs);
    return {
      service,
      since: formatTime(wallMsOf(sinceMs)),
      failures,
      ...(why === undefined ? {} : { why }),
      ...(isTimed ? { nextTryInSeconds: Math.max(0, Math.round((dueMs - nowMs) / 1000)) } : {}),
    };
  });
}

function resourceStatus(
  resource: string,
  { lists, events, lastHeardMs }: WatchReading,
  { troubles, wallMsOf }: ObservedSources,
): ResourceStatus {
  const trouble = troubles.get(resource);
  return {
    resource,
    lists,
    events,
    ...(lastHeardMs === undefined ? {} : { lastHeard: formatTime(wallMsOf(lastHeardMs)) }),
    ...(trouble === undefined ? {} : { trouble }),
  };
}

function countBy(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
