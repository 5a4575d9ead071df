import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server does with the request for a list, and with that for a watch. Absent: an empty list; a watch on which nothing comes. */
export interface OddAnswers {
  readonly list?: (response: ServerResponse, request: IncomingMessage) => void;
  readonly watch?: (response: ServerResponse, request: IncomingMessage) => void;
}

/** A server that passes for an API server and answers oddly. */
export interface OddServer {
  readonly kubeconfig: string;
  /** When requests came, by the clock in use. */
  readonly requestsMs: readonly number[];
  stop(): void;
}

/** The version of its lists. */
export const LIST_VERSION = '100';

export async function startOddServer(answers: OddAnswers, nowMs: () => number): Promise<OddServer> {
  const requestsMs: number[] = [];
  const { list = answerList, watch = (response) => response.flushHeaders() } = answers;
  const server = createServer((request, response) => {
    requestsMs.push(nowMs());
    const isWatch = new URL(request.url ?? '/', 'http://server').searchParams.has('watch');
    (isWatch ? watch : list)(response, request);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    kubeconfig: JSON.stringify({
      clusters: [{ name: 'odd', cluster: { server: `http://127.0.0.1:${port}` } }],
      contexts: [{ name: 'odd', context: { cluster: 'odd', user: '' } }],
      'current-context': 'odd',
    }),
    requestsMs,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answerList(response: ServerResponse): void {
  response.end(JSON.stringify({ kind: 'List', metadata: { resourceVersion: LIST_VERSION }, items: [] }));
}
