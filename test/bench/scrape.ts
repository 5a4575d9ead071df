/**
 * Measures scrapes of /metrics on a node with many Services: time to the last byte, time of processors, and the longest time for which the
 * event loop was held. The client is a process of its own; `ipvsadm` is a process that prints a file. Fails when scrapes take a second, or
 * when the event loop is held for 50 ms of processor time; what other programs take from it meanwhile is shown, but does not count.
 *
 * Usage: node test/bench/scrape.ts [--services 10000] [--endpoints 2] [--scrapes 20] [--json]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { type LongestHold, LoopWatch } from './scrape-loop.ts';
import { startScrapedNode } from './scrape-node.ts';

const LIMITS = { answerMs: 1000, busyMs: 50 } as const;

const { values } = parseArgs({
  options: {
    services: { type: 'string', default: '10000' },
    endpoints: { type: 'string', default: '2' },
    scrapes: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
    client: { type: 'string' },
  },
});
if (values.client === undefined) process.exitCode = await measure();
else await runClient(values.client);

/** One way to ask; times in milliseconds. */
interface Row extends LongestHold {
  readonly page: string;
  readonly scrapes: number;
  /** Before it is packed. */
  readonly megabytes: number;
  readonly medianMs: number;
  readonly longestMs: number;
  /** Of this process, a scrape. */
  readonly processorMs: number;
}

async function measure(): Promise<number> {
  const node = await startScrapedNode({ services: Number(values.services), endpoints: Number(values.endpoints) });
  const client = spawn(process.execPath, [import.meta.filename, '--client', node.url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: client.stdout });
  const loop = new LoopWatch();
  const scrape = async (page: Page): Promise<ClientAnswer> => {
    client.stdin.write(`${JSON.stringify(page)}\n`);
    const [answer] = await once(answers, 'line');
    return JSON.parse(String(answer));
  };
  const count = Number(values.scrapes);
  const rows = [
    await series('first, plain', 1, () => scrape({ query: '', packed: false }), loop),
    await series('plain', count, () => scrape({ query: '', packed: false }), loop),
    await series('gzip', count, () => scrape({ query: '', packed: true }), loop),
    await series('services only', count, () => scrape({ query: '?ipvs=services', packed: true }), loop),
    await series('without IPVS', count, () => scrape({ query: '?ipvs=off', packed: true }), loop),
  ];
  client.stdin.end();
  await once(client, 'exit');
  await node.stop();
  report(rows);
  return rows.every(({ medianMs, busyMs }) => medianMs < LIMITS.answerMs && busyMs < LIMITS.busyMs) ? 0 : 1;
}

async function series(
  page: string,
  scrapes: number,
  scrape: () => Promise<ClientAnswer>,
  loop: LoopWatch,
): Promise<Row> {
  const times: number[] = [];
  let bytes = 0;
  const before = process.cpuUsage();
  loop.start();
  for (let index = 0; index < scrapes; index += 1) {
    const answer = await scrape();
    times.push(answer.tookMs);
    bytes = answer.bytes;
  }
  const held = loop.stop();
  const { user, system } = process.cpuUsage(before);
  times.sort((a, b) => a - b);
  return {
    page,
    scrapes,
    megabytes: bytes / 1e6,
    medianMs: times[Math.floor(scrapes / 2)] ?? 0,
    longestMs: times.at(-1) ?? 0,
    processorMs: (user + system) / 1000 / scrapes,
    ...held,
  };
}

function report(rows: readonly Row[]): void {
  if (values.json) {
    print(JSON.stringify({ services: Number(values.services), endpoints: Number(values.endpoints), rows }));
    return;
  }
  print('page               MB  median ms  longest ms  processor ms  loop held ms  with processor ms');
  for (const { page, megabytes, medianMs, longestMs, processorMs, heldMs, busyMs } of rows) {
    const cells = [
      megabytes.toFixed(1).padStart(7),
      medianMs.toFixed(0).padStart(9),
      longestMs.toFixed(0).padStart(10),
      processorMs.toFixed(0).padStart(12),
      heldMs.toFixed(1).padStart(12),
      busyMs.toFixed(1).padStart(17),
    ];
    print(`${page.padEnd(14)}${cells.join('  ')}`);
  }
}

interface Page {
  readonly query: string;
  readonly packed: boolean;
}

interface ClientAnswer {
  readonly tookMs: number;
  readonly bytes: number;
}

/** Asks for a page for every line of standard input, and prints how that went. */
async function runClient(url: string): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { query, packed }: Page = JSON.parse(line);
    const startMs = performance.now();
    const response = await fetch(url + query, { headers: { 'Accept-Encoding': packed ? 'gzip' : 'identity' } });
    let bytes = 0;
    for await (const piece of response.body ?? []) bytes += piece.byteLength;
    print(JSON.stringify({ tookMs: performance.now() - startMs, bytes } satisfies ClientAnswer));
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
