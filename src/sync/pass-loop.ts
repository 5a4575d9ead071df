import { describeProblem } from '../model/problem.ts';
import type { PassReport, Proxier } from './proxier.ts';
import { changedAnything, foreignThings, passFields } from './report-pass.ts';

/** Where passes are told of; pino's loggers fit. */
export interface PassLog {
  info(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What the runner has to know after a pass. */
export type PassOutcome = { readonly kind: 'done' } | { readonly kind: 'retry'; readonly afterMs: number };

/** Runs passes when asked to, decides when one has to be tried again, and tells of each in one line. */
export class PassLoop {
  readonly #proxier: Proxier;
  readonly #log: PassLog;
  #failures = 0;
  /** What was last said to be wrong; a fault is told of when it changes, not at every retry. */
  #saidErrors = '';
  #saidRemarks: ReadonlySet<string> = new Set();

  constructor(proxier: Proxier, log: PassLog) {
    this.#proxier = proxier;
    this.#log = log;
  }

  async run(reasons: ReadonlySet<string>): Promise<PassOutcome> {
    const kind = [...reasons].some((reason) => FULL_PASS_REASONS.has(reason)) ? 'full' : 'normal';
    const report = await this.#proxier.pass(kind, [...reasons]);
    this.#tell(report);
    this.#failures = report.errors.length > 0 ? this.#failures + 1 : 0;
    if (this.#failures > 0) return { kind: 'retry', afterMs: retryDelayMs(this.#failures) };
    return report.families.some(({ draining }) => draining > 0)
      ? { kind: 'retry', afterMs: DRAIN_POLL_MS }
      : { kind: 'done' };
  }

  #tell(report: PassReport): void {
    const fields = passFields(report);
    if (changedAnything(report)) this.#log.info(fields, 'node programmed');
    else if (report.errors.length === 0) this.#log.debug(fields, 'nothing to do');
    const errors = report.errors.map(({ during, message }) => `${during}: ${message}`).join('; ');
    if (errors !== this.#saidErrors) {
      if (errors === '') this.#log.info({}, 'passes succeed again');
      else this.#log.warn({ ...fields, err: errors }, 'pass failed and will be tried again');
    }
    this.#saidErrors = errors;
    this.#tellRemarks(report);
  }

  /** A pass that did not get as far as the families says nothing about their problems. */
  #tellRemarks(report: PassReport): void {
    if (report.families.length === 0) return;
    const problems = report.families.flatMap(({ state }) => state.desired?.problems ?? []).map(describeProblem);
    const remarks = [...problems, ...foreignThings(report)];
    for (const remark of remarks) if (!this.#saidRemarks.has(remark)) this.#log.warn({}, remark);
    this.#saidRemarks = new Set(remarks);
  }
}

/** These may have changed more than the events tell. */
const FULL_PASS_REASONS: ReadonlySet<string> = new Set(['start', 'periodic', 'node']);

/** How often a real server without new connections is looked at, to remove it after its last one. */
const DRAIN_POLL_MS = 10_000;

/** 1, 2, 4, … 30 s after the n-th failure in a row. */
function retryDelayMs(failures: number): number {
  return Math.min(30_000, 1000 * 2 ** (failures - 1));
}
