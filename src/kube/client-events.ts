import type { Result } from '../model/result.ts';
import type { Clock } from '../queue/clock.ts';
import { type ApiError, describeApiError, isServerFault } from './client-errors.ts';
import { type ApiRequest, type ApiTransport, callJson } from './client-transport.ts';
import { guardSilence } from './list-watch-silence.ts';

/** What became of an Event; `gone` only of one that was to be changed. */
export type StoredEvent =
  | { readonly kind: 'stored' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'away'; readonly message: string; readonly retryAfterMs?: number };

/** Events of the API server, of group events.k8s.io. */
export interface EventsClient {
  create(namespace: string, body: object): Promise<StoredEvent>;
  patch(namespace: string, name: string, body: object): Promise<StoredEvent>;
}

const SILENCE_MS = 30_000;

/** A server that is silent for half a minute counts as away. */
export function eventsClient(transport: ApiTransport, clock: Clock): EventsClient {
  const path = (namespace: string) => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const send = async (request: ApiRequest): Promise<Result<unknown, ApiError>> => {
    const guard = guardSilence(clock, new AbortController().signal, SILENCE_MS);
    const sent = await callJson(transport, { ...request, signal: guard.signal }, () => guard.heard(SILENCE_MS));
    guard.end();
    return sent;
  };
  return {
    create: async (namespace, body) => {
      const sent = await send({ method: 'POST', path: path(namespace), body });
      // A first try may have come through although its answer did not.
      const isThere = !sent.ok && sent.error.kind === 'refused' && sent.error.status === 409;
      return isThere ? { kind: 'stored' } : outcomeOf(sent);
    },
    patch: async (namespace, name, body) => {
      const contentType = 'application/merge-patch+json';
      const sent = await send({ method: 'PATCH', path: `${path(namespace)}/${name}`, contentType, body });
      const isGone = !sent.ok && sent.error.kind === 'refused' && sent.error.status === 404;
      return isGone ? { kind: 'gone' } : outcomeOf(sent);
    },
  };
}

function outcomeOf(sent: Result<unknown, ApiError>): StoredEvent {
  if (sent.ok || sent.error.kind === 'malformed') return { kind: 'stored' };
  const message = describeApiError(sent.error);
  if (sent.error.kind === 'refused' && !isServerFault(sent.error)) return { kind: 'refused', message };
  const wait = sent.error.kind === 'refused' ? sent.error.retryAfterMs : undefined;
  return { kind: 'away', message, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}
