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

/** Sends a request and reads the whole answer as JSON; an empty one is undefined. `progress` is called with every piece of it. */
export async function callJson(
  transport: ApiTransport,
  request: ApiRequest,
  progress: () => void = () => {},
): Promise<Result<unknown, ApiError>> {
  const chunks: Buffer[] = [];
  const chunk = (bytes: Buffer) => {
    chunks.push(bytes);
    progress();
  };
  const sent = await transport.send(request, { sending: progress, opened: progress, chunk });
  if (!sent.ok) return sent;
  try {
    return succeed(chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString()));
  } catch (error) {
    return fail({ kind: 'malformed', url: request.path, message: String(error) });
  }
}
