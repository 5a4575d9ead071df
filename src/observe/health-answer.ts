import type { ServerResponse } from 'node:http';
import { answerWith, JSON_TYPE, notFound } from './answer.ts';
import type { Answer } from './listen.ts';
import type { HealthReading, ProxyHealth } from './proxy-health.ts';

export interface HealthAnswerOptions {
  readonly health: Pick<ProxyHealth, 'read' | 'isNodeEligible'>;
  readonly wallMs: () => number;
  readonly counted: (path: HealthPath, status: 200 | 503) => void;
}

export type HealthPath = 'healthz' | 'livez';

/** Answers the two paths of the health server; everything else is not there. */
export function healthAnswer(options: HealthAnswerOptions): Answer {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/healthz' || path === '/livez') answerHealth(options, path.slice(1) as HealthPath, response);
    else notFound(response);
  };
}

function answerHealth(options: HealthAnswerOptions, path: HealthPath, response: ServerResponse): void {
  const { health, wallMs, counted } = options;
  const reading = health.read(path === 'livez' ? 'live' : 'healthy');
  const nodeEligible = path === 'healthz' ? health.isNodeEligible : undefined;
  const status = reading.healthy && nodeEligible !== false ? 200 : 503;
  counted(path, status);
  answerWith(response, status, JSON_TYPE, healthBody(reading, nodeEligible, status, wallMs()));
}

/** Keys in kube-proxy's order. Who is told that all is well is told that it was just now. */
export function healthBody(
  reading: HealthReading,
  nodeEligible: boolean | undefined,
  status: 200 | 503,
  nowMs: number,
): string {
  const families = [...reading.families].map(([family, { lastUpdatedMs, healthy }]) => [
    family,
    { lastUpdated: formatTime(lastUpdatedMs), healthy },
  ]);
  return JSON.stringify({
    lastUpdated: formatTime(status === 200 ? nowMs : reading.lastUpdatedMs),
    currentTime: formatTime(nowMs),
    ...(nodeEligible === undefined ? {} : { nodeEligible }),
    healthy: reading.healthy,
    ...(families.length === 0 ? {} : { status: Object.fromEntries(families) }),
  });
}

/** RFC 3339 with as many digits as there are; Go's zero time for `undefined`. */
export function formatTime(ms: number | undefined): string {
  if (ms === undefined) return '0001-01-01T00:00:00Z';
  return new Date(ms).toISOString().replace(/\.?0*Z$/, 'Z');
}
