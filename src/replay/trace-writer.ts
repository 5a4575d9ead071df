import { createWriteStream } from 'node:fs';
import { pipeline, type Writable } from 'node:stream';
import { constants, createGzip, type Gzip } from 'node:zlib';
import { type CancelTimer, type Clock, systemClock } from '../queue/clock.ts';

/**
 * Lines on their way into a file, compressed when its name ends in `.gz`. They are gathered to pieces, as each that is compressed alone costs
 * a turn of another thread, but never for longer than a second: who follows the file sees them, and no more is lost with the process. The
 * first error ends it, and is told once.
 */
export class TraceWriter {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #stream: Writable;
  readonly #gzip: Gzip | undefined;
  readonly #finished = Promise.withResolvers<void>();
  #gathered = '';
  /** There while something may be on its way that is not in the file. */
  #cancelFlush: CancelTimer | undefined;
  #error: string | undefined;

  /** An existing file is replaced. */
  constructor(file: string, trouble: (message: string) => void, clock: Pick<Clock, 'after'> = systemClock) {
    this.#clock = clock;
    const target = createWriteStream(file);
    const ended = (error?: NodeJS.ErrnoException | null) => {
      if (error && this.#error === undefined) {
        this.#error = `${file}: ${describeWriteError(error)}`;
        this.#gathered = '';
        trouble(this.#error);
      }
      this.#finished.resolve();
    };
    if (file.endsWith('.gz')) {
      this.#gzip = createGzip();
      pipeline(this.#gzip, target, ended);
      this.#stream = this.#gzip;
    } else {
      target.on('error', ended);
      target.on('close', () => ended());
      this.#stream = target;
    }
  }

  /** True once nothing more is written. */
  get isBroken(): boolean {
    return this.#error !== undefined;
  }

  /** Bytes that wait to be written. */
  get waitingBytes(): number {
    return this.#stream.writableLength + this.#gathered.length;
  }

  write(line: string): void {
    if (this.#error !== undefined) return;
    this.#gathered += `${line}\n`;
    if (this.#gathered.length >= PIECE_LENGTH) this.#passOn();
    this.#cancelFlush ??= this.#clock.after(FLUSH_MS, () => this.#flush());
  }

  /** Resolves when there is room for more, or no sense in it. */
  async drained(): Promise<void> {
    if (!this.#stream.writableNeedDrain || this.#error !== undefined) return;
    const drained = Promise.withResolvers<void>();
    this.#stream.once('drain', () => drained.resolve());
    await Promise.race([drained.promise, this.#finished.promise]);
  }

  /** Ends the file; resolves when everything is in it, or nothing more will be. */
  async close(): Promise<void> {
    this.#cancelFlush?.();
    this.#passOn();
    if (this.#error === undefined) this.#stream.end();
    await this.#finished.promise;
  }

  #passOn(): void {
    if (this.#gathered !== '') this.#stream.write(this.#gathered);
    this.#gathered = '';
  }

  /** What gzip has got by now can be unzipped without the rest. */
  #flush(): void {
    this.#cancelFlush = undefined;
    if (this.#error !== undefined) return;
    this.#passOn();
    this.#gzip?.flush(constants.Z_SYNC_FLUSH);
  }
}

const PIECE_LENGTH = 64 * 1024;
const FLUSH_MS = 1000;

function describeWriteError({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOSPC') return 'no space is left';
  return `cannot be written: ${code ?? message}`;
}
