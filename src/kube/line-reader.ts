import { fail, type Result, succeed } from '../model/result.ts';

/** A line grew beyond the limit without an end. */
export interface LineTooLong {
  readonly kind: 'line-too-long';
  readonly limitBytes: number;
}

const newline = 0x0a;
const defaultLimitBytes = 16 * 1024 * 1024;

/** Joins pieces of a UTF-8 text to lines. Pieces may end anywhere, also inside a character. */
export class LineReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  readonly #limitBytes: number;

  /** `limitBytes`: how long a line may be, without its end. */
  constructor(limitBytes = defaultLimitBytes) {
    this.#limitBytes = limitBytes;
  }

  /** The lines that are complete with this piece, without their ends and without empty ones; what follows them is kept. */
  push(piece: Buffer): Result<readonly string[], LineTooLong> {
    const lines: string[] = [];
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      this.#keep(piece.subarray(start, end));
      if (this.#bytes > this.#limitBytes) return this.#tooLong();
      if (this.#bytes > 0) lines.push(this.#take());
      start = end + 1;
    }
    this.#keep(piece.subarray(start));
    return this.#bytes > this.#limitBytes ? this.#tooLong() : succeed(lines);
  }

  /** Whether something is kept that has no end yet. */
  get isUnfinished(): boolean {
    return this.#bytes > 0;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
  }

  #take(): string {
    const line = Buffer.concat(this.#pieces, this.#bytes).toString('utf8');
    this.#pieces = [];
    this.#bytes = 0;
    return line;
  }

  #tooLong(): Result<never, LineTooLong> {
    return fail({ kind: 'line-too-long', limitBytes: this.#limitBytes });
  }
}
