import type { MetricsRegistry } from './metrics-registry.ts';

/** One request to the API server that was answered, or that failed. */
export interface ApiSample {
  readonly method: string;
  /** Host and port of the server. */
  readonly host: string;
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** To the beginning of the answer's body, or to the failure. */
  readonly durationMs: number;
}

/**
 * Requests to the API server, under the names of client-go. Code `<error>` stands for no answer, as there.
 *
 * Source: kubernetes/component-base metrics/prometheus/restclient/metrics.go
 */
export function apiMetrics(registry: MetricsRegistry): (sample: ApiSample) => void {
  const requests = registry.counter('rest_client_requests_total', '[ALPHA] Requests to the API server by status', [
    'code',
    'method',
    'host',
  ]);
  const duration = registry.histogram(
    'rest_client_request_duration_seconds',
    '[ALPHA] Time from a request to the beginning of its answer',
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    ['verb', 'host'],
  );
  return ({ method, host, status, durationMs }) => {
    requests.inc({ code: status === undefined ? '<error>' : String(status), method, host });
    duration.observe({ verb: method, host }, durationMs / 1000);
  };
}
