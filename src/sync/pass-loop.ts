import { describeProblem } from '../model/problem.ts';
import { describeRefused } from '../plan/refused.ts';
import type { ServiceChange } from '../queue/change.ts';
import type { QuarantineChange } from '../queue/quarantine.ts';
import type { TakenService } from '../queue/queue-entry.ts';
import type { ServiceQueue } from '../queue/service-queue.ts';
import type { PassMetrics } from './pass-metrics.ts';
import type { PassReport, Proxier } from './proxier.ts';
import { changedAnything, foreignThings, passFields } from './report-pass.ts';

/** Where passes are told of; pino's loggers fit. */
export interface PassLog {
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What the runner has to know after a pass: when the next one is needed at the latest, and why where it is no retry. */
export type PassOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason?: 'periodic' };

export interface PassLoopOptions {
  readonly proxier: Pick<Proxier, 'kindOf' | 'pass'>;
  readonly queue: Pick<ServiceQueue, 'add' | 'drain' | 'done' | 'isQuarantined'>;
  readonly metrics: Pick<PassMetrics, 'ran'>;
  readonly log: PassLog;
  readonly nowMs: () => number;
  /** A full pass runs at the latest this long after the one before, however many normal ones come in between. */
  readonly fullIntervalMs: number;
}

/**
 * Runs passes when asked to, gives each its Services from the queue and tells the queue what became of them, decides when a pass has to
 * be tried again, and tells of each in one line.
 */
export class PassLoop {
  readonly #options: PassLoopOptions;
  #failures = 0;
  #lastFullMs: number | undefined;
  /** What was last said to be wrong; a fault is told of when it changes, not at every retry. */
  #saidErrors = '';
  #saidRemarks: ReadonlySet<string> = new Set();
  #saidRefusals: ReadonlyMap<string, string> = new Map();

  constructor(options: PassLoopOptions) {
    this.#options = options;
  }

  async run(reasons: ReadonlySet<string>): Promise<PassOutcome> {
    const { proxier, queue, metrics, nowMs } = this.#options;
    const kind = proxier.kindOf(this.#asksForFull(reasons) ? 'full' : 'normal');
    const taken = queue.drain(kind);
    const names = new Set<string>(taken.map(({ service }) => service));
    const isTried = (service: string) => names.has(service) || (kind === 'full' && !queue.isQuarantined(service));
    const report = await proxier.pass(kind, [...reasons], isTried);
    metrics.ran(report, taken);
    if (kind === 'full') this.#lastFullMs = nowMs();
    this.#tell(report, taken);
    const refused = new Set<string>(report.refusals.map(({ service }) => service));
    // untried: the pass failed for a reason that is not the Service's
    const otherwise = report.errors.length > 0 ? 'untried' : 'applied';
    for (const { service } of taken)
      this.#tellQuarantine(queue.done(service, refused.has(service) ? 'failed' : otherwise));
    for (const service of refused.difference(names)) queue.add(foundRefused(service));
    this.#failures = report.errors.length > 0 ? this.#failures + 1 : 0;
    if (this.#failures > 0) return { kind: 'retry', afterMs: retryDelayMs(this.#failures) };
    const lookMs = Math.min(...report.families.map(({ lookAfterMs }) => lookAfterMs ?? Number.POSITIVE_INFINITY));
    const fullMs = kind === 'full' ? Number.POSITIVE_INFINITY : this.#untilFullMs();
    if (lookMs < fullMs) return { kind: 'retry', afterMs: lookMs };
    return Number.isFinite(fullMs) ? { kind: 'retry', afterMs: fullMs, reason: 'periodic' } : { kind: 'done' };
  }

  /** The runner itself waits its whole interval from the end of any pass, which is right after a full one only. */
  #untilFullMs(): number {
    const { nowMs, fullIntervalMs } = this.#options;
    const sinceMs = this.#lastFullMs === undefined ? 0 : nowMs() - this.#lastFullMs;
    return sinceMs === 0 ? Number.POSITIVE_INFINITY : Math.max(0, fullIntervalMs - sinceMs);
  }

  /** The runner asks for a periodic pass only when it is idle. */
  #asksForFull(reasons: ReadonlySet<string>): boolean {
    const { nowMs, fullIntervalMs } = this.#options;
    const isDue = this.#lastFullMs !== undefined && nowMs() - this.#lastFullMs >= fullIntervalMs;
    return isDue || [...reasons].some((reason) => FULL_PASS_REASONS.has(reason));
  }

  #tell(report: PassReport, taken: readonly TakenService[]): void {
    const { log } = this.#options;
    const fields = passFields(report, taken);
    if (changedAnything(report)) log.info(fields, 'node programmed');
    else if (report.errors.length === 0) log.debug(fields, 'nothing to do');
    const errors = report.errors.map(({ during, message }) => `${during}: ${message}`).join('; ');
    if (errors !== this.#saidErrors) {
      if (errors === '') log.info({}, 'passes succeed again');
      else log.warn({ ...fields, err: errors }, 'pass failed and will be tried again');
    }
    this.#saidErrors = errors;
    this.#tellRemarks(report);
    this.#tellRefusals(report, taken);
  }

  /** A pass that did not get as far as the families says nothing about their problems. */
  #tellRemarks(report: PassReport): void {
    if (report.families.length === 0) return;
    const problems = report.families.flatMap(({ state }) => state.desired.problems).map(describeProblem);
    const remarks = [...problems, ...foreignThings(report)];
    for (const remark of remarks) if (!this.#saidRemarks.has(remark)) this.#options.log.warn({}, remark);
    this.#saidRemarks = new Set(remarks);
  }

  /** Told when it becomes another one. A Service that was not in this pass keeps what was said of it. */
  #tellRefusals(report: PassReport, taken: readonly TakenService[]): void {
    const said = new Map(this.#saidRefusals);
    for (const { service } of taken) said.delete(service);
    const byService = Map.groupBy(report.refusals, ({ service }) => service);
    for (const [service, refusals] of byService) {
      const things = refusals.map(({ refused }) => describeRefused(refused)).sort();
      const text = `left out: ${[...new Set(things)].join(', ')}`;
      said.set(service, text);
      if (this.#saidRefusals.get(service) === text) continue;
      this.#options.log.warn({ service, err: refusals[0]?.message }, `${text}; it will be tried again`);
    }
    this.#saidRefusals = said;
  }

  #tellQuarantine(change: QuarantineChange | undefined): void {
    if (!change) return;
    const { kind, service, failures } = change;
    if (kind === 'released') this.#options.log.info({ service, failures }, 'Service is programmed again');
    else this.#options.log.warn({ service, failures }, 'Service keeps failing and is left out of the passes of others');
  }
}

/** A Service that was in no need of a pass until one found that the kernel does not take something of it. */
function foundRefused(service: string): ServiceChange {
  return { service, kind: 'minor', readyBefore: 1, readyAfter: 1, magnitude: 0, level: 'low' };
}

/** These may have changed more than the events tell. */
const FULL_PASS_REASONS: ReadonlySet<string> = new Set(['start', 'periodic', 'node', 'addresses', 'drift']);

/** 1, 2, 4, … 30 s after the n-th failure in a row. */
function retryDelayMs(failures: number): number {
  return Math.min(30_000, 1000 * 2 ** (failures - 1));
}
