import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Connection } from './client-credentials.ts';
import { type ApiError, readRefusal } from './client-errors.ts';
import type { ApiRequest, BodySink } from './client-transport.ts';

/**
 * Sends one request over the connection's agent. A read that fails because a kept connection had gone stale is sent once more, but a watch,
 * which is retried anyway.
 * Never rejects; what the sink throws leaves the event loop as an uncaught exception.
 */
export async function exchange(
  connection: Connection,
  request: ApiRequest,
  sink: BodySink,
): Promise<Result<undefined, ApiError>> {
  const first = await attempt(connection, request, sink);
  return first === 'stale-connection' ? unless(await attempt(connection, request, sink), connection, request) : first;
}

type Outcome = Result<undefined, ApiError> | 'stale-connection';

function unless(outcome: Outcome, { server }: Connection, { path }: ApiRequest): Result<undefined, ApiError> {
  if (outcome !== 'stale-connection') return outcome;
  return fail({ kind: 'unreachable', url: `${server}${path}`, message: 'the connection was reset' });
}

function attempt(connection: Connection, request: ApiRequest, sink: BodySink): Promise<Outcome> {
  return new Promise((resolve) => {
    const isRepeated = request.method === 'GET' && request.query?.watch === undefined;
    const broken = (error: Error) => resolve(fail(errorOf(error, connection, request)));
    const started = start(connection, request);
    if (!started.ok) return broken(started.error);
    const outgoing = started.value;
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const stale = outgoing.reusedSocket && error.code === 'ECONNRESET' && isRepeated;
      if (stale) resolve('stale-connection');
      else broken(error);
    });
    outgoing.on('response', (response) => {
      const status = response.statusCode ?? 0;
      const body = decoded(response, broken);
      if (status >= 200 && status < 300) {
        sink.opened?.();
        body.on('data', (bytes: Buffer) => sink.chunk(bytes));
        body.on('end', () => resolve(succeed(undefined)));
      } else {
        const retryAfter = response.headers['retry-after'];
        readText(body, (text) => resolve(fail(readRefusal(status, text, retryAfter))));
      }
    });
    outgoing.end(request.body === undefined ? undefined : JSON.stringify(request.body));
  });
}

/** The runtime throws for what it cannot send, such as a header with control characters, or a certificate that is none. */
function start({ server, agent, headers }: Connection, request: ApiRequest): Result<ClientRequest, Error> {
  const { method, path, query = {}, contentType = 'application/json', signal } = request;
  const search = new URLSearchParams(query).toString();
  const content = request.body === undefined ? {} : { 'Content-Type': contentType };
  // What zips may hold a watch's events back until it has enough of them.
  const encoding = query.watch === undefined ? { 'Accept-Encoding': 'gzip' } : {};
  const options = {
    method,
    agent,
    headers: { Accept: 'application/json', ...encoding, ...content, ...headers },
    ...(signal ? { signal } : {}),
  };
  const url = `${server}${path}${search === '' ? '' : `?${search}`}`;
  try {
    return succeed(server.startsWith('https:') ? httpsRequest(url, options) : httpRequest(url, options));
  } catch (error) {
    return fail(error as Error);
  }
}

/** The body unzipped; `broken` is told when it ends before it is complete. */
function decoded(response: IncomingMessage, broken: (error: Error) => void): Readable {
  if (response.headers['content-encoding'] === 'gzip') {
    // The pipeline listens no more once all that came is written, which may be before it is known to be cut off.
    return pipeline(response, createGunzip().on('error', broken), (error) => {
      if (error) broken(error);
    });
  }
  return response.on('error', broken);
}

/** How much is read of an answer that says no. */
const REFUSAL_LIMIT_BYTES = 64 * 1024;

function readText(body: Readable, done: (text: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = () => done(Buffer.concat(chunks).toString('utf8', 0, REFUSAL_LIMIT_BYTES));
  body.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= REFUSAL_LIMIT_BYTES) return;
    end();
    body.destroy();
  });
  body.on('end', end);
}

function errorOf(error: NodeJS.ErrnoException, { server }: Connection, { path, signal }: ApiRequest): ApiError {
  if (signal?.aborted && !isSilence(signal.reason)) return { kind: 'aborted' };
  if (signal?.aborted) return { kind: 'unreachable', url: `${server}${path}`, message: 'the server fell silent' };
  const message = error.message === '' ? (error.code ?? error.name) : error.message;
  return { kind: 'unreachable', url: `${server}${path}`, message };
}

function isSilence(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
