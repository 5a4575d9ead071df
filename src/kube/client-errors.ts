/** Why a request to the API server brought nothing. */
export type ApiError =
  /** No answer: no connection, a broken one, credentials that cannot be read, silence. */
  | { readonly kind: 'unreachable'; readonly url: string; readonly message: string }
  /** The server answered and said no; `reason` is the Status object's, `''` when the answer was not one. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly reason: string;
      readonly message: string;
      /** How long the server wants to be left alone, 5 minutes at most. */
      readonly retryAfterMs?: number;
    }
  /** The answer is not what the API promises. */
  | { readonly kind: 'malformed'; readonly url: string; readonly message: string }
  /** The caller gave up. */
  | { readonly kind: 'aborted' };

/** The error that an HTTP answer stands for. `retryAfter` is the header's value, in seconds; dates are not understood and ignored. */
export function readRefusal(status: number, body: string, retryAfter: string | undefined): ApiError {
  const { reason, message, details } = parseStatus(body);
  const seconds = Number(retryAfter ?? details?.retryAfterSeconds ?? Number.NaN);
  return { kind: 'refused', status, reason: reason ?? '', message: message ?? body.slice(0, 200), ...wait(seconds) };
}

/** The error inside the ERROR event of a watch, whose object is a Status. */
export function readStatusError(object: unknown): ApiError {
  const { code, reason, message, details } = toStatus(object);
  const seconds = Number(details?.retryAfterSeconds ?? Number.NaN);
  return { kind: 'refused', status: code ?? 0, reason: reason ?? '', message: message ?? '', ...wait(seconds) };
}

/** No server is left alone for longer, whatever it asks for. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

function wait(seconds: number): { readonly retryAfterMs?: number } {
  return seconds >= 0 ? { retryAfterMs: Math.min(MAX_RETRY_AFTER_MS, seconds * 1000) } : {};
}

/** Whether the version that was asked for is one the server does not have (any more), so that only a new list helps. */
export function isStaleVersion(error: ApiError): boolean {
  if (error.kind !== 'refused') return false;
  return error.status === 410 || error.reason === 'Expired' || /too large resource version/i.test(error.message);
}

/** Whether it is about the server as a whole, so that other requests will fail too. */
export function isServerFault(error: ApiError): boolean {
  if (error.kind !== 'refused') return error.kind === 'unreachable';
  return [401, 429].includes(error.status) || (error.status >= 500 && !isStaleVersion(error));
}

/** One line for a log. */
export function describeApiError(error: ApiError): string {
  switch (error.kind) {
    case 'refused':
      return `the API server refused with ${error.status} ${error.reason}: ${error.message}`;
    case 'aborted':
      return 'the request was given up';
    default:
      return `${error.url}: ${error.message}`;
  }
}

interface StatusFields {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly retryAfterSeconds?: number };
}

function parseStatus(body: string): StatusFields {
  try {
    return toStatus(JSON.parse(body));
  } catch {
    return {};
  }
}

function toStatus(value: unknown): StatusFields {
  const isStatus = typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
  return isStatus ? (value as StatusFields) : {};
}
