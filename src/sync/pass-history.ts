import type { DriftStatus, PassStatus } from '../observe/status.ts';
import { describeRefused } from '../plan/refused.ts';
import { moreUrgent } from '../queue/change.ts';
import type { TakenService } from '../queue/queue-entry.ts';
import type { PassReport } from './proxier.ts';
import { changedAnything, countSteps } from './report-pass.ts';

/** How many passes, and things noticed, are remembered. */
const REMEMBERED = 10;

/** Passes of late, what others had changed, and why Services were refused. Its size does not grow with time. */
export class PassHistory {
  #latest: PassStatus | undefined;
  #notable: readonly PassStatus[] = [];
  #noticed: DriftStatus['noticed'] = [];
  readonly #refusals = new Map<string, string>();

  ran(report: PassReport, taken: readonly TakenService[], at: string): void {
    const pass = describePass(report, taken, at);
    this.#latest = pass;
    if (changedAnything(report) || pass.errors.length > 0) this.#notable = remember(pass, this.#notable);
    for (const { service } of taken) this.#refusals.delete(service);
    for (const { service, refused, message } of report.refusals) {
      this.#refusals.set(service, `${describeRefused(refused)}: ${message}`);
    }
  }

  drifted(things: readonly string[], at: string): void {
    this.#noticed = remember({ at, things }, this.#noticed);
  }

  get latest(): PassStatus | undefined {
    return this.#latest;
  }

  /** The latest first. */
  get notable(): readonly PassStatus[] {
    return this.#notable;
  }

  get noticed(): DriftStatus['noticed'] {
    return this.#noticed;
  }

  /** What of a Service the kernel did not take when it was tried last. */
  whyRefused(service: string): string | undefined {
    return this.#refusals.get(service);
  }
}

function remember<T>(newest: T, before: readonly T[]): readonly T[] {
  return [newest, ...before].slice(0, REMEMBERED);
}

function describePass(report: PassReport, taken: readonly TakenService[], at: string): PassStatus {
  const { kind, reasons, tookMs, errors, families, refusals } = report;
  const [first, ...others] = taken.map(({ level }) => level);
  return {
    at,
    kind,
    reasons: [...reasons].sort(),
    ...(first === undefined ? {} : { level: others.reduce(moreUrgent, first) }),
    services: Math.max(0, ...families.map(({ changedServices }) => changedServices)),
    ms: Math.round(tookMs),
    steps: countSteps(report),
    errors: [
      ...errors.map(({ during, message }) => `${during}: ${message}`),
      ...refusals.map(({ service, refused, message }) => `${service}: ${describeRefused(refused)}: ${message}`),
    ].slice(0, REMEMBERED),
  };
}
