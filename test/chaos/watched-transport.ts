import { getEventListeners } from 'node:events';
import type { ApiTransport } from '../../src/kube/client-transport.ts';
import type { Clock } from '../../src/queue/clock.ts';

/** A transport that writes down what is sent over it. */
export interface WatchedTransport extends ApiTransport {
  /** Requests that were begun from `fromMs` on for `forMs`. */
  readonly sent: (fromMs: number, forMs: number) => number;
  /** Listeners that requests have left on signals although they are over. */
  readonly leftListeners: () => number;
}

export function watchTransport(transport: ApiTransport, clock: Clock): WatchedTransport {
  const times: number[] = [];
  const signals = new Set<AbortSignal>();
  return {
    send: async (request, sink) => {
      times.push(clock.nowMs());
      const result = await transport.send(request, sink);
      if (request.signal) signals.add(request.signal);
      return result;
    },
    close: () => transport.close(),
    sent: (fromMs, forMs) => times.filter((time) => time >= fromMs && time < fromMs + forMs).length,
    leftListeners: () => [...signals].reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0),
  };
}
