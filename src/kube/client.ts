import { fail, type Result, succeed } from '../model/result.ts';
import type { Clock } from '../queue/clock.ts';
import { type ConnectionSettings, type KubeconfigError, loadKubeConfig } from './client-config.ts';
import { type Connection, Credentials } from './client-credentials.ts';
import { type ApiError, isStaleVersion } from './client-errors.ts';
import { exchange } from './client-exchange.ts';
import { type RequestLimits, Throttle } from './client-throttle.ts';
import type { ApiRequest, ApiTransport, BodySink } from './client-transport.ts';

/** One finished request, for metrics. */
export interface RequestSample {
  readonly method: ApiRequest['method'];
  /** Host and port of the server. */
  readonly host: string;
  readonly path: string;
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** From the start to the beginning of the answer's body, or to the failure. */
  readonly durationMs: number;
}

export interface TransportSettings extends ConnectionSettings {
  readonly userAgent: string;
  readonly clock: Clock;
  /** Of all requests but watches; absent: none. */
  readonly limits?: RequestLimits;
  readonly observe?: (sample: RequestSample) => void;
  /** Told at once when there are no credentials. */
  readonly anonymous?: () => void;
}

/**
 * A transport over one pool of kept-alive connections, which all users share. Fails when the settings name no server; credentials are
 * read with the first request, and again when they are a minute old, were refused (401, 403), or when there was no answer. Of several
 * servers the next one is used from when on one gives no answer, or answers for another that it cannot reach (502, 503, 504).
 */
export function openTransport(settings: TransportSettings): Result<ApiTransport, KubeconfigError> {
  const loaded = loadKubeConfig(settings);
  if (!loaded.ok) return loaded;
  if (loaded.value.isAnonymous) settings.anonymous?.();
  const credentials = new Credentials(settings, loaded.value, settings.clock);
  const throttle = new Throttle(settings.clock, settings.limits);
  return succeed({
    send: async (request, sink) => {
      if (request.query?.watch === undefined) await throttle.turn(request.signal);
      return send(settings, credentials, request, sink);
    },
    close: () => credentials.close(),
  });
}

async function send(
  { clock, observe, userAgent }: TransportSettings,
  credentials: Credentials,
  request: ApiRequest,
  sink: BodySink,
): Promise<Result<undefined, ApiError>> {
  const { method, path, signal } = request;
  const startMs = clock.nowMs();
  const connection = await readConnection(credentials, path, signal);
  if (!connection.ok) return connection;
  if (signal?.aborted) return fail({ kind: 'aborted' });
  const { server } = connection.value;
  const sample = (status: number | undefined) =>
    observe?.({ method, host: new URL(server).host, path, status, durationMs: clock.nowMs() - startMs });
  sink.sending?.();
  const opened = () => {
    sample(200);
    sink.opened?.();
  };
  const headers = { 'User-Agent': userAgent, ...connection.value.headers };
  const sent = await exchange({ ...connection.value, headers }, request, {
    opened,
    chunk: (bytes) => sink.chunk(bytes),
  });
  if (sent.ok) return sent;
  if (sent.error.kind === 'refused') sample(sent.error.status);
  if (sent.error.kind === 'unreachable') sample(undefined);
  learn(credentials, server, sent.error);
  return sent;
}

/** What a failure says about credentials and server. */
function learn(credentials: Credentials, server: string, error: ApiError): void {
  if (error.kind === 'unreachable') credentials.unreachable(server);
  if (error.kind !== 'refused') return;
  if (error.status === 401) credentials.expire();
  if (error.status === 403) credentials.refresh();
  if (BEHIND_IT.includes(error.status) && !isStaleVersion(error)) credentials.unreachable(server);
}

/** Statuses of a server that is going, coming, or only a front of another one. */
const BEHIND_IT: readonly number[] = [502, 503, 504];

async function readConnection(
  credentials: Credentials,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Result<Connection, ApiError>> {
  const ended = Promise.withResolvers<Result<never, ApiError>>();
  const end = () => ended.resolve(fail({ kind: 'aborted' }));
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  try {
    return await Promise.race([credentials.connection().then(succeed), ended.promise]);
  } catch (error) {
    const message = `the credentials cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return fail({ kind: 'unreachable', url: `${credentials.server}${path}`, message });
  } finally {
    signal?.removeEventListener('abort', end);
  }
}
