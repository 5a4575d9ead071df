import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { isRecord, type JsonRecord } from './api-object.ts';
import type { ApiServer } from './server.ts';

/** A request as tests write it. */
export interface Call {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  /** Sent as it is when it is a string, else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer whose body is a JSON object; `{}` when it is anything else. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonRecord;
}

/** One line of a watch. */
export interface WatchEvent {
  readonly type: string;
  readonly object: JsonRecord;
}

/** Sends one request on a connection of its own; rejects when the connection breaks. */
export async function callApi(api: ApiServer, call: Call): Promise<Answer> {
  const response = await open(api, call);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  const text = (response.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent).toString();
  const body: unknown = /json/.test(response.headers['content-type'] ?? '') ? JSON.parse(text) : {};
  return { status: response.statusCode ?? 0, headers: response.headers, body: isRecord(body) ? body : {} };
}

/** The events of a watch as they come; the iteration ends with the watch. */
export async function* watchApi(api: ApiServer, path: string): AsyncGenerator<WatchEvent> {
  const response = await open(api, { path });
  try {
    for await (const line of createInterface({ input: response })) yield JSON.parse(line);
  } finally {
    response.destroy();
  }
}

function open(api: ApiServer, { method = 'GET', path, body, headers = {} }: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const text = body === undefined || typeof body === 'string' ? (body ?? '') : JSON.stringify(body);
  const length = { 'Content-Length': Buffer.byteLength(text) };
  const options = {
    method,
    headers: { 'Content-Type': 'application/json', ...length, ...headers },
    ca: api.ca,
    agent: false,
  } as const;
  const request = (api.url.startsWith('https') ? httpsRequest : httpRequest)(`${api.url}${path}`, options, resolve);
  request.on('error', reject);
  request.end(text);
  return promise;
}
