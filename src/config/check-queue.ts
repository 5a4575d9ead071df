import { LEVELS } from '../queue/change.ts';
import { isWrong } from './check-together.ts';
import { formatDuration } from './duration.ts';
import type { FieldProblem } from './parse-fields.ts';
import type { QueueSection } from './queue-section.ts';

/**
 * Rules between the fields of section `queue`: delays do not shrink as urgency does, nor a retry's delay as failures add up. Fields that
 * are among `wrong` are passed over, as their values are then only defaults.
 */
export function checkQueue({ delays, retries }: QueueSection, wrong: readonly FieldProblem[]): readonly FieldProblem[] {
  const { readiness, update, minor } = retries;
  const rows: readonly (readonly Wait[])[] = [
    LEVELS.map((level) => wait(`delays.${level}`, delays[level])),
    [wait('retries.readiness.fast', readiness.fast), wait('retries.readiness.slow', readiness.slow)],
    [wait('retries.update.base', update.base), wait('retries.update.max', update.max)],
    [wait('retries.minor.fast', minor.fast), wait('retries.minor.slow', minor.slow)],
  ];
  return rows.flatMap((row) => findFalls(row.filter(({ field }) => !isWrong(field, wrong))));
}

interface Wait {
  readonly field: string;
  readonly durationMs: number;
}

function wait(name: string, durationMs: number): Wait {
  return { field: `queue.${name}`, durationMs };
}

/** A problem for each that is shorter than the one before it. */
function findFalls(row: readonly Wait[]): FieldProblem[] {
  return row.flatMap(({ field, durationMs }, index) => {
    const least = row[index - 1];
    if (!least || durationMs >= least.durationMs) return [];
    const [shortest, given] = [formatDuration(least.durationMs), formatDuration(durationMs)];
    const message = `must not be shorter than ${least.field}, ${shortest}; got ${given}`;
    return [{ field, message, because: [least.field] }];
  });
}
