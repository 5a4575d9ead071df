import { createWriteStream } from 'node:fs';
import { pipeline, type Writable } from 'node:stream';
import { createGzip } from 'node:zlib';

/** Lines on their way into a file, compressed when its name ends in `.gz`. The first error ends it, and is told once. */
export class TraceWriter {
  readonly #stream: Writable;
  readonly #finished = Promise.withResolvers<void>();
  #error: string | undefined;

  /** An existing file is replaced. */
  constructor(file: string, trouble: (message: string) => void) {
    const target = createWriteStream(file);
    const ended = (error?: NodeJS.ErrnoException | null) => {
      if (error && this.#error === undefined) {
        this.#error = `${file}: ${describeWriteError(error)}`;
        trouble(this.#error);
      }
      this.#finished.resolve();
    };
    if (file.endsWith('.gz')) {
      const gzip = createGzip();
      pipeline(gzip, target, ended);
      this.#stream = gzip;
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
    return this.#stream.writableLength;
  }

  write(line: string): void {
    if (this.#error === undefined) this.#stream.write(`${line}\n`);
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
    if (this.#error === undefined) this.#stream.end();
    await this.#finished.promise;
  }
}

function describeWriteError({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOSPC') return 'no space is left';
  return `cannot be written: ${code ?? message}`;
}
