import { fail, type Result, succeed } from '../model/result.ts';
import type { Clock } from '../queue/clock.ts';
import { type ConnectionSettings, type KubeconfigError, loadKubeConfig } from './client-config.ts';
import { type Connection, Credentials } from './client-credentials.ts';
import type { ApiError } from './client-errors.ts';
import { exchange } from './client-exchange.ts';
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
  readonly observe?: (sample: RequestSample) => void;
}

/**
 * A transport over one pool of kept-alive connections, which all users share. Fails when the settings name no server; credentials are
 * read with the first request, and again when they are a minute old or were refused (401).
 */
export function openTransport(settings: TransportSettings): Result<ApiTransport, KubeconfigError> {
  const loaded = loadKubeConfig(settings);
  if (!loaded.ok) return loaded;
  const credentials = new Credentials(settings, loaded.value, settings.clock);
  return succeed({
    send: (request, sink) => send(settings, credentials, request, sink),
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
  const sample = (status: number | undefined) =>
    observe?.({ method, host: new URL(credentials.server).host, path, status, durationMs: clock.nowMs() - startMs });
  const connection = await readConnection(credentials, path);
  if (!connection.ok) return connection;
  if (signal?.aborted) return fail({ kind: 'aborted' });
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
  if (sent.error.kind === 'refused' && sent.error.status === 401) credentials.expire();
  return sent;
}

async function readConnection(credentials: Credentials, path: string): Promise<Result<Connection, ApiError>> {
  try {
    return succeed(await credentials.connection());
  } catch (error) {
    const message = `the credentials cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return fail({ kind: 'unreachable', url: `${credentials.server}${path}`, message });
  }
}
