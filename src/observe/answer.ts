import type { ServerResponse } from 'node:http';

export const TEXT = 'text/plain; charset=utf-8';
export const JSON_TYPE = 'application/json';

/** Ends a response with this text; browsers are told not to guess another type. */
export function answerWith(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const length = String(Buffer.byteLength(body));
  response
    .writeHead(status, {
      'Content-Type': type,
      'X-Content-Type-Options': 'nosniff',
      ...headers,
      'Content-Length': length,
    })
    .end(body);
}

export function notFound(response: ServerResponse): void {
  answerWith(response, 404, TEXT, '404 page not found\n');
}
