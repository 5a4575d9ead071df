import { fail, type Result } from '../../src/model/result.ts';
import type { JsonRecord } from './api-object.ts';

/** The object a Kubernetes API server answers with when something failed. Source: k8s.io/apimachinery meta/v1 Status. */
export interface Status extends JsonRecord {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: JsonRecord;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: JsonRecord;
  /** The HTTP status code. */
  readonly code?: number;
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export function failureStatus(
  code: number,
  message: string,
  details?: JsonRecord,
  reason = reasons[code] ?? 'Unknown',
): Status {
  const base = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason } as const;
  return { ...base, ...(details === undefined ? {} : { details }), code };
}

/** A failed result that carries {@link failureStatus}. */
export function refuse(code: number, message: string, details?: JsonRecord, reason?: string): Result<never, Status> {
  return fail(failureStatus(code, message, details, reason));
}

export function successStatus(details: JsonRecord): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/** What every reader of a resource version that is no longer kept gets. */
export function expired(message: string): Status {
  return failureStatus(410, message);
}
