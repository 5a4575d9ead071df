import { createReadStream } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import { fail, type Result } from '../model/result.ts';
import { parseTraceEvent, type TraceEvent } from './trace-event.ts';

/** Something in a trace that is no event; `line` is 0 when the trace itself cannot be read, or not to its end. */
export interface TraceFault {
  readonly line: number;
  readonly message: string;
}

/**
 * The events of a trace in pieces, as they are read. Every line that is no event, whose time is before that of an earlier one, or more than
 * 366 days after the first one's, is told of and passed over. Compressed input is known by its first bytes; one that was cut off is read as far as it goes.
 */
export async function* readTrace(
  input: Readable,
  fault: (fault: TraceFault) => void,
): AsyncGenerator<readonly TraceEvent[]> {
  const [lines, decoder] = [new Lines(fault), new TextDecoder()];
  let rest = '';
  try {
    for await (const bytes of plainText(input)) {
      const whole = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n');
      rest = whole.pop() ?? '';
      yield lines.events(whole);
      if (rest.length > LONGEST_LINE) return lines.tell('the line is too long; nothing from here on is read');
    }
  } catch (error) {
    fault({ line: 0, message: describeReadError(error as NodeJS.ErrnoException) });
  }
  yield lines.events([rest]);
}

/** A file, or standard input for `-`. What is wrong with it shows when it is read. */
export function openTrace(name: string): Readable {
  return name === '-' ? process.stdin : createReadStream(name, { highWaterMark: PIECE_BYTES });
}

const PIECE_BYTES = 64 * 1024;
const LONGEST_LINE = 16 * 1024 * 1024;
/** A replay goes through all of the time, a pass after each period. */
const LONGEST_DAYS = 366;
const DAY_MS = 24 * 3_600_000;

/** Counts lines and time. */
class Lines {
  readonly #fault: (fault: TraceFault) => void;
  #line = 0;
  #startMs: number | undefined;
  #atMs = 0;

  constructor(fault: (fault: TraceFault) => void) {
    this.#fault = fault;
  }

  events(lines: readonly string[]): readonly TraceEvent[] {
    return lines.flatMap((text) => this.#event(text) ?? []);
  }

  tell(message: string): void {
    this.#fault({ line: this.#line + 1, message });
  }

  #event(text: string): TraceEvent | undefined {
    const event = text.trim() === '' ? undefined : this.#check(parseTraceEvent(text));
    if (event && !event.ok) this.tell(event.error);
    this.#line += 1;
    return event?.ok ? event.value : undefined;
  }

  #check(event: Result<TraceEvent, string>): Result<TraceEvent, string> {
    if (!event.ok) return event;
    const { atMs } = event.value;
    const startMs = this.#startMs ?? atMs;
    if (atMs < this.#atMs) return fail(`atMs is ${atMs}, before the ${this.#atMs} of an earlier line`);
    if (atMs - startMs > LONGEST_DAYS * DAY_MS)
      return fail(`atMs is ${atMs}, more than ${LONGEST_DAYS} days after the ${startMs} of the first event`);
    [this.#startMs, this.#atMs] = [startMs, atMs];
    return event;
  }
}

async function* plainText(input: Readable): AsyncGenerator<Buffer> {
  const pieces = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await pieces.next();
  if (first.done) return;
  const all = joined(first.value, pieces);
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* all;
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES, finishFlush: constants.Z_SYNC_FLUSH });
  pipeline(all, gunzip, () => {});
  yield* gunzip as AsyncIterable<Buffer>;
}

async function* joined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function describeReadError({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code?.startsWith('Z_')) return `the compressed data are damaged: ${message}`;
  return `cannot be read: ${code ?? message}`;
}
