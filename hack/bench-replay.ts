/**
 * Replays a trace of a million events from a file, and fails when that takes a minute or 500 MB.
 *
 * Usage: node hack/bench-replay.ts
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_QUEUE_SETTINGS } from '../src/queue/settings.ts';
import { DEFAULT_COST } from '../src/replay/controller.ts';
import { DEFAULT_SPEC } from '../src/replay/generate-spec.ts';
import { generatePieces } from '../src/replay/generate-trace.ts';
import { openTrace, readTrace } from '../src/replay/read-trace.ts';
import { replayTrace } from '../src/replay/replay-trace.ts';
import { formatTraceEvent } from '../src/replay/trace-event.ts';
import { TraceWriter } from '../src/replay/trace-writer.ts';

const LIMITS = { seconds: 60, megabytes: 500 } as const;

/** 1,000 objects at the start, and changes that make it a million events. */
const SPEC = { ...DEFAULT_SPEC, changesPerSecond: 1_000, seconds: 999 };

async function writeTrace(file: string): Promise<void> {
  const writer = new TraceWriter(file, fail);
  for await (const piece of generatePieces(SPEC)) {
    for (const event of piece) writer.write(formatTraceEvent(event));
    await writer.drained();
  }
  await writer.close();
}

function fail(message: string): never {
  throw new Error(message);
}

const folder = mkdtempSync(join(tmpdir(), 'bench-replay-'));
try {
  const file = join(folder, 'trace.jsonl.gz');
  await writeTrace(file);
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  const { events } = await replayTrace(
    readTrace(openTrace(file), ({ line, message }) => fail(`line ${line}: ${message}`)),
    {
      queue: DEFAULT_QUEUE_SETTINGS,
      cost: DEFAULT_COST,
      minSyncPeriodMs: 1_000,
      syncPeriodMs: 30_000,
      nodeName: '',
      otherNodes: 'watched',
      problem: ({ object, message }) => fail(`${object}: ${message}`),
    },
  );
  const seconds = (performance.now() - startMs) / 1000;
  const megabytes = process.resourceUsage().maxRSS / 1024;
  const { user, system } = process.cpuUsage(before);
  const cpu = `${((user + system) / 1e6).toFixed(1)} s of processors`;
  process.stdout.write(`${events} events, ${seconds.toFixed(1)} s (${cpu}), at most ${megabytes.toFixed(0)} MB\n`);
  process.exitCode = seconds < LIMITS.seconds && megabytes < LIMITS.megabytes ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
