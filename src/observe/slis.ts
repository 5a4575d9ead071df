/**
 * The health checks of the metrics server counted, as `/metrics/slis` shows them.
 *
 * Source: kubernetes/component-base metrics/prometheus/slis
 */
export class Slis {
  readonly #startedMs: number;
  #checks = 0;

  /** Milliseconds since 1970. */
  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  /** The check `ping` was made; it cannot fail. */
  checked(): void {
    this.#checks += 1;
  }

  reset(): void {
    this.#checks = 0;
  }

  page(): string {
    const checks = [
      '# HELP kubernetes_healthcheck [STABLE] Result of a health check, 1 for success',
      '# TYPE kubernetes_healthcheck gauge',
      'kubernetes_healthcheck{name="ping",type="healthz"} 1',
      '# HELP kubernetes_healthchecks_total [STABLE] Results of health checks',
      '# TYPE kubernetes_healthchecks_total counter',
      `kubernetes_healthchecks_total{name="ping",status="success",type="healthz"} ${this.#checks}`,
    ];
    const start = [
      '# HELP process_start_time_seconds Start of the process in seconds since 1970',
      '# TYPE process_start_time_seconds gauge',
      `process_start_time_seconds ${this.#startedMs / 1000}`,
    ];
    return `${[...(this.#checks > 0 ? checks : []), ...start].join('\n')}\n`;
  }
}
