import type { Clock } from '../queue/clock.ts';
import { recordEvent } from './record-event.ts';
import type { EventType, TracedKind } from './trace-event.ts';
import { TraceWriter } from './trace-writer.ts';

export interface RecorderOptions {
  readonly file: string;
  readonly clock: Clock;
  /** Is told once when the recording ends before its time; the message names the file. */
  readonly trouble: (message: string) => void;
}

/** Writes what a watch hears into a trace. What was there before `listed` is at 0, so that a replay takes it for the first list. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #writer: TraceWriter;
  #startMs: number | undefined;
  #isOver = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#writer = new TraceWriter(options.file, options.trouble, options.clock);
  }

  /** The first lists are complete: time begins. */
  listed(): void {
    this.#startMs ??= this.#options.clock.nowMs();
  }

  record(kind: TracedKind, type: EventType, object: unknown): void {
    if (this.#isOver) return;
    const atMs = this.#startMs === undefined ? 0 : this.#options.clock.nowMs() - this.#startMs;
    this.#writer.write(recordEvent(type, kind, object, Math.round(atMs * 1000) / 1000));
    if (this.#writer.waitingBytes > MOST_WAITING_BYTES) this.#giveUp();
  }

  /** Ends the recording; resolves when everything is in the file, or nothing more will be. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#writer.close();
  }

  /** A disk that is too slow must not fill the daemon's memory. */
  #giveUp(): void {
    this.#options.trouble(`${this.#options.file}: cannot be written as fast as events come`);
    void this.close();
  }
}

const MOST_WAITING_BYTES = 64 * 1024 * 1024;
