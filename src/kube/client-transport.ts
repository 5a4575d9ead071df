import { fail, type Result, succeed } from '../model/result.ts';
import type { ApiError } from './client-errors.ts';

/** One request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the server's URL, e.g. `/api/v1/services`, without a query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Media type of the body; `application/json` when absent. */
  readonly contentType?: string;
  /** Ends the request with the error `aborted`. */
  readonly signal?: AbortSignal;
}

/** Takes an answer in as it comes. What throws in here is a bug and is not caught. */
export interface BodySink {
  /** The request goes out now, after it may have waited for its turn. */
  sending?(): void;
  /** The server agreed and its body begins. */
  opened?(): void;
  chunk(bytes: Buffer): void;
}

/** How the rest of the program talks to the API server. */
export interface ApiTransport {
  /** Sends a request; resolves when the whole body of a good answer (2xx) went to the sink, or with why not. Never rejects. */
  send(request: ApiRequest, sink: BodySink): Promise<Result<undefined, ApiError>>;
  /** Breaks every connection. */
  close(): void;
}

/** Longer answers are given up, so that no server can fill the memory. A page of 500 large objects is a third of it. */
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Sends a request and reads the whole answer as JSON; an empty one is undefined. `progress` is called with every piece of it. An answer of
 * more than `limitBytes` is malformed.
 */
export async function callJson(
  transport: ApiTransport,
  request: ApiRequest,
  progress: () => void = () => {},
  limitBytes = ANSWER_LIMIT_BYTES,
): Promise<Result<unknown, ApiError>> {
  const unwanted = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, unwanted.signal]) : unwanted.signal;
  let chunks: Buffer[] = [];
  let bytes = 0;
  const chunk = (piece: Buffer) => {
    if (unwanted.signal.aborted) return;
    chunks.push(piece);
    bytes += piece.length;
    progress();
    if (bytes <= limitBytes) return;
    chunks = [];
    unwanted.abort();
  };
  const sent = await transport.send({ ...request, signal }, { sending: progress, opened: progress, chunk });
  const malformed = (message: string) => fail({ kind: 'malformed', url: request.path, message } as const);
  if (unwanted.signal.aborted) return malformed(`the answer is longer than ${limitBytes} bytes`);
  if (!sent.ok) return sent;
  try {
    return succeed(chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString()));
  } catch (error) {
    return malformed(String(error));
  }
}
