import { formatDuration, parseDuration } from '../config/duration.ts';
import { describeProblem, type Problem } from '../model/problem.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { DEFAULT_COST } from '../replay/controller.ts';
import { type GenerateSpec, parseGenerateSpec } from '../replay/generate-spec.ts';
import { generatePieces } from '../replay/generate-trace.ts';
import { openTrace, readTrace, type TraceFault } from '../replay/read-trace.ts';
import { type ReplaySettings, replayTrace } from '../replay/replay-trace.ts';
import { formatReplay, reportReplay } from '../replay/report.ts';
import { formatTraceEvent } from '../replay/trace-event.ts';
import { TraceWriter } from '../replay/trace-writer.ts';
import type { ReplayArguments } from './arguments.ts';
import type { ExitCode } from './exit-code.ts';
import { readConfig } from './read-config.ts';
import type { Terminal } from './terminal.ts';

/** Runs or writes a trace. Status 1 when some of it could not be read; the rest, if any, is replayed all the same. */
export async function replay(args: ReplayArguments, terminal: Terminal): Promise<ExitCode> {
  const config = await readConfig(args.config === undefined ? {} : { config: args.config }, terminal);
  const spec = args.generate === undefined ? undefined : parseGenerateSpec(args.generate);
  if (spec && !spec.ok) terminal.error(`error: --generate: ${spec.error}`);
  if (!config || spec?.ok === false) return 2;
  if (spec && args.write !== undefined) return writeTrace(spec.value, args.write, terminal);
  const settings = readSettings(args, config);
  if (!settings.ok) terminal.error(`error: ${settings.error}`);
  if (!settings.ok) return 2;
  const name = args.trace ?? '-';
  let faults = 0;
  const fault = ({ line, message }: TraceFault) => {
    faults += 1;
    if (faults <= MOST_TOLD)
      terminal.error(`error: ${name === '-' ? 'standard input' : name}${line > 0 ? `:${line}` : ''}: ${message}`);
  };
  const trace = spec ? generatePieces(spec.value) : readTrace(openTrace(name), fault);
  const warnings = new Warnings(terminal);
  const replayed = await replayTrace(trace, { ...settings.value, problem: (problem) => warnings.tell(problem) });
  warnings.end();
  if (faults > MOST_TOLD) terminal.error(`note: ${faults - MOST_TOLD} more errors are not shown`);
  if (faults === 0 && replayed.events === 0) terminal.error('warning: no event was read');
  if (faults > 0 && replayed.events === 0) return 1;
  await terminal.output(
    args.form === 'json' ? `${JSON.stringify(reportReplay(replayed), undefined, 2)}\n` : formatReplay(replayed),
  );
  return faults > 0 ? 1 : 0;
}

type GivenConfig = NonNullable<Awaited<ReturnType<typeof readConfig>>>;

function readSettings(args: ReplayArguments, config: GivenConfig): Result<Omit<ReplaySettings, 'problem'>, string> {
  const minSyncPeriodMs = readPeriod(args.minSyncPeriod, config.minSyncPeriodMs);
  const syncPeriodMs = readPeriod(args.syncPeriod, config.syncPeriodMs);
  const [passMs, serviceMs] = [
    readMilliseconds(args.passMs, DEFAULT_COST.passMs),
    readMilliseconds(args.serviceMs, DEFAULT_COST.serviceMs),
  ];
  if (minSyncPeriodMs === undefined)
    return fail(`--min-sync-period: ${args.minSyncPeriod} is not a duration from 0 on`);
  if (syncPeriodMs === undefined || syncPeriodMs < 1)
    return fail(
      `--sync-period: ${args.syncPeriod ?? formatDuration(config.syncPeriodMs)} is not a duration of 1ms or more`,
    );
  if (minSyncPeriodMs > syncPeriodMs) return fail('--min-sync-period must not be longer than --sync-period');
  if (passMs === undefined)
    return fail(`--pass-ms: ${args.passMs} is not a number of milliseconds from 0 to ${MOST_COST_MS}`);
  if (serviceMs === undefined)
    return fail(`--service-ms: ${args.serviceMs} is not a number of milliseconds from 0 to ${MOST_COST_MS}`);
  return succeed({
    minSyncPeriodMs,
    syncPeriodMs,
    cost: { passMs, serviceMs },
    queue: config.queue,
    nodeName: args.node ?? config.hostnameOverride ?? '',
    otherNodes: config.otherNodes,
  });
}

function readPeriod(text: string | undefined, otherwiseMs: number): number | undefined {
  const durationMs = text === undefined ? otherwiseMs : parseDuration(text);
  return durationMs !== undefined && durationMs >= 0 ? durationMs : undefined;
}

function readMilliseconds(text: string | undefined, otherwise: number): number | undefined {
  if (text === undefined) return otherwise;
  return /^\d+(\.\d+)?$/.test(text) && Number(text) <= MOST_COST_MS ? Number(text) : undefined;
}

const MOST_COST_MS = 3_600_000;

async function writeTrace(spec: GenerateSpec, file: string, terminal: Terminal): Promise<ExitCode> {
  const writer = new TraceWriter(file, (message) => terminal.error(`error: ${message}`));
  let events = 0;
  for await (const piece of generatePieces(spec)) {
    if (writer.isBroken) break;
    for (const event of piece) writer.write(formatTraceEvent(event));
    events += piece.length;
    await writer.drained();
  }
  await writer.close();
  if (writer.isBroken) return 1;
  terminal.error(`note: ${events} events written to ${file}`);
  return 0;
}

/** Tells each thing that is wrong with an object once, and not without end. */
class Warnings {
  readonly #terminal: Terminal;
  readonly #told = new Set<string>();
  #more = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  tell(problem: Problem): void {
    const text = describeProblem(problem);
    if (this.#told.has(text)) return;
    if (this.#told.size >= MOST_TOLD) {
      this.#more += 1;
      return;
    }
    this.#told.add(text);
    this.#terminal.error(`warning: ${text}`);
  }

  end(): void {
    if (this.#more > 0) this.#terminal.error(`note: ${this.#more} more warnings are not shown`);
  }
}

const MOST_TOLD = 50;
