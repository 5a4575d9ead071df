import type { ServerResponse } from 'node:http';

/** Writes a response body in order, cut into pieces of `pieceBytes` that leave one event-loop turn apart; whole when undefined. */
export class BodyWriter {
  #sent: Promise<void> = Promise.resolve();
  #muted = false;
  readonly #response: ServerResponse;
  readonly #pieceBytes: () => number | undefined;

  constructor(response: ServerResponse, pieceBytes: () => number | undefined) {
    this.#response = response;
    this.#pieceBytes = pieceBytes;
  }

  write(body: string | Buffer): void {
    if (this.#muted) return;
    const pieceBytes = this.#pieceBytes();
    const bytes = Buffer.from(body);
    this.#sent = this.#sent.then(() =>
      pieceBytes === undefined ? void this.#response.write(bytes) : this.#writePieces(bytes, pieceBytes),
    );
  }

  /** What is written or ended from now on does not go out. */
  mute(): void {
    this.#muted = true;
  }

  /** Breaks the connection as soon as this text has gone out; at once when there is none. */
  breakOff(lastWords: string): void {
    const destroy = () => void this.#response.socket?.destroy();
    if (lastWords === '') destroy();
    else this.#sent = this.#sent.then(() => void this.#response.write(lastWords, destroy));
  }

  end(): void {
    if (this.#muted) return;
    this.#sent = this.#sent.then(() => void this.#response.end());
  }

  async #writePieces(bytes: Buffer, pieceBytes: number): Promise<void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      this.#response.write(bytes.subarray(at, at + pieceBytes));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
