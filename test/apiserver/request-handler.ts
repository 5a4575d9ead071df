import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import type { Clock } from '../../src/queue/clock.ts';
import { answer } from './answer.ts';
import { BodyWriter } from './body-writer.ts';
import type { Cluster } from './cluster.ts';
import type { Faults } from './faults.ts';
import { OpenWatch } from './open-watch.ts';
import { type Reply, statusReply } from './replies.ts';
import type { ApiRequest, RequestLog } from './requests.ts';
import { parseRoute, verbOf } from './routes.ts';
import { failureStatus } from './status.ts';
import type { Watches } from './watches.ts';

/** What requests are served from. */
export interface HandlerState {
  readonly cluster: Cluster;
  readonly faults: Faults;
  readonly requests: RequestLog;
  readonly watches: Watches;
  readonly clock: Clock;
  readonly bookmarkMs: number;
  /** Undefined: everyone may do everything. */
  token: string | undefined;
  /** Undefined: certificates of clients do not matter. */
  clientCa: string | undefined;
  /** Nobody is answered. */
  silent: boolean;
  /** Connections on which nobody is answered. */
  readonly forsaken: (socket: Socket) => boolean;
  /** Size of the pieces that bodies are cut into; undefined: not cut. */
  pieceBytes: number | undefined;
}

/** Serves one request: fault, token, answer, log. */
export async function handleRequest(
  state: HandlerState,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const request = readRequest(incoming);
  // A client that goes away in the middle is no concern of the server.
  response.on('error', () => {});
  const body = await readBody(incoming).catch(() => undefined);
  if (body === undefined) return;
  const log = (status: number) => state.requests.add({ ...request, status, atMs: Date.now() });
  if (state.silent || state.forsaken(incoming.socket)) return log(0);
  const effect = state.faults.take(request);
  if (effect?.kind === 'hang') return log(0);
  if (effect?.kind === 'reset') {
    incoming.socket.destroy();
    return log(0);
  }
  const reply = effect ? refusal(effect.status, effect.retryAfterSeconds) : servedReply(state, incoming, request, body);
  send(state, incoming, response, reply);
  log(reply.kind === 'watch' ? 200 : reply.status);
}

function readRequest(incoming: IncomingMessage): ApiRequest {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://server');
  const method = incoming.method ?? 'GET';
  const route = parseRoute(pathname);
  const part = route.kind === 'resource' && route.part === 'status' ? '/status' : '';
  const resource = route.kind === 'resource' ? `${route.resource.plural}${part}` : '';
  const verb = verbOf(method, route, searchParams);
  return {
    method,
    path: pathname,
    query: searchParams,
    userAgent: incoming.headers['user-agent'] ?? '',
    verb,
    resource,
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function refusal(status: number, retryAfterSeconds: number | undefined): Reply {
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  return statusReply(failureStatus(status, 'refused for a test', details));
}

function servedReply(
  { cluster, token, clientCa }: HandlerState,
  incoming: IncomingMessage,
  { method, path, query }: ApiRequest,
  body: string,
): Reply {
  const { authorization, accept = '', 'content-type': contentType = '' } = incoming.headers;
  if (token !== undefined && authorization !== `Bearer ${token}`)
    return statusReply(failureStatus(401, 'Unauthorized'));
  if (clientCa !== undefined && !(incoming.socket instanceof TLSSocket && incoming.socket.authorized))
    return statusReply(failureStatus(401, 'Unauthorized'));
  return answer(cluster, { method, path, query, accept, contentType: contentType.split(';')[0]?.trim() ?? '', body });
}

function send(state: HandlerState, incoming: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const writer = new BodyWriter(response, () => state.pieceBytes);
  if (reply.kind === 'watch') sendWatch(state, response, writer, reply);
  else sendDocument(incoming, response, writer, reply);
}

type Document = Exclude<Reply, { kind: 'watch' }>;

function sendDocument(incoming: IncomingMessage, response: ServerResponse, writer: BodyWriter, reply: Document): void {
  const [type, body] =
    reply.kind === 'json' ? ['application/json', JSON.stringify(reply.body)] : ['text/plain', reply.body];
  const zipped = body.length > 128 * 1024 && /\bgzip\b/.test(String(incoming.headers['accept-encoding'] ?? ''));
  const encoding = zipped ? { 'Content-Encoding': 'gzip' } : {};
  response.writeHead(reply.status, {
    'Content-Type': type,
    ...encoding,
    ...(reply.kind === 'json' ? reply.headers : {}),
  });
  writer.write(zipped ? gzipSync(body, { level: 1 }) : body);
  writer.end();
}

function sendWatch(
  state: HandlerState,
  response: ServerResponse,
  writer: BodyWriter,
  { options }: Reply & { kind: 'watch' },
): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.flushHeaders();
  const sink = {
    write: (text: string) => writer.write(text),
    end: () => writer.end(),
    cut: (lastWords = '') => writer.breakOff(lastWords),
    mute: () => writer.mute(),
  };
  const watch = new OpenWatch(options, state.cluster, sink);
  state.watches.add(watch);
  response.on('close', () => {
    watch.close();
    state.watches.remove(watch);
  });
  watch.start(state.clock, state.bookmarkMs);
}
