import { fail, type Result, succeed } from '../model/result.ts';
import type { ApiError } from './client-errors.ts';
import { ListReader } from './list-reader.ts';

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

/** Longer answers are given up, so that no server can fill the memory. */
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
  const chunks: Buffer[] = [];
  const take = (piece: Buffer) => {
    chunks.push(piece);
    return undefined;
  };
  const sent = await receive(transport, request, { take, progress, limitBytes });
  if (!sent.ok) return sent;
  try {
    return succeed(chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString()));
  } catch (error) {
    return malformed(request, String(error));
  }
}

/** As {@link callJson} for a list. Its items are passed on while they arrive, and are left out of the answer. */
export async function callList(
  transport: ApiTransport,
  request: ApiRequest,
  item: (json: unknown) => void,
  progress: () => void = () => {},
  limitBytes = ANSWER_LIMIT_BYTES,
): Promise<Result<unknown, ApiError>> {
  const reader = new ListReader();
  const take = (piece: Buffer) => {
    const items = reader.push(piece);
    if (!items.ok) return items.error;
    for (const json of items.value) item(json);
    return undefined;
  };
  const sent = await receive(transport, request, { take, progress, limitBytes });
  if (!sent.ok) return sent;
  const list = reader.end();
  return list.ok ? list : malformed(request, list.error);
}

interface Receiver {
  /** Gives a message when it wants no more. */
  readonly take: (piece: Buffer) => string | undefined;
  readonly progress: () => void;
  readonly limitBytes: number;
}

/** Sends a request and passes its answer on; one that is not taken any more is broken off, and malformed. */
async function receive(
  transport: ApiTransport,
  request: ApiRequest,
  { take, progress, limitBytes }: Receiver,
): Promise<Result<undefined, ApiError>> {
  const unwanted = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, unwanted.signal]) : unwanted.signal;
  let bytes = 0;
  let reason: string | undefined;
  const chunk = (piece: Buffer) => {
    if (reason !== undefined) return;
    bytes += piece.length;
    progress();
    reason = bytes > limitBytes ? `the answer is longer than ${limitBytes} bytes` : take(piece);
    if (reason !== undefined) unwanted.abort();
  };
  const sent = await transport.send({ ...request, signal }, { sending: progress, opened: progress, chunk });
  return reason === undefined ? sent : malformed(request, reason);
}

function malformed({ path }: ApiRequest, message: string): Result<never, ApiError> {
  return fail({ kind: 'malformed', url: path, message });
}
