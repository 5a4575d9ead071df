import type { WatchOptions } from './open-watch.ts';
import type { Status } from './status.ts';

/** What the server answers. */
export type Reply =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'text'; readonly status: number; readonly body: string }
  | { readonly kind: 'watch'; readonly options: WatchOptions };

export function jsonReply(status: number, body: unknown): Reply {
  return { kind: 'json', status, body };
}

export function statusReply(status: Status): Reply {
  const seconds = status.details?.retryAfterSeconds;
  const headers: Readonly<Record<string, string>> = seconds === undefined ? {} : { 'Retry-After': String(seconds) };
  return { kind: 'json', status: status.code ?? 500, body: status, headers };
}
