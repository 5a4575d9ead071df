/** One request as tests and faults see it. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  /** As in RBAC: get, list, watch, create, update, patch, delete, deletecollection; the lower-case method for other paths. */
  readonly verb: string;
  /** The resource's plural, with `/status` for that part; `''` for other paths. */
  readonly resource: string;
}

/** One answered request. */
export interface LoggedRequest extends ApiRequest {
  /** The HTTP status; 0 when the request was never answered. */
  readonly status: number;
  /** When the answer began, in milliseconds since 1970. */
  readonly atMs: number;
}

interface Waiter {
  readonly matches: (request: LoggedRequest) => boolean;
  readonly resolve: (request: LoggedRequest) => void;
}

/** The requests that were answered, in order. A watch counts as answered when it begins. */
export class RequestLog {
  readonly all: LoggedRequest[] = [];
  #waiters: Waiter[] = [];

  /** How many requests had this verb and resource. */
  count(verb: string, resource: string): number {
    return this.all.filter((request) => request.verb === verb && request.resource === resource).length;
  }

  /** The next request from now on that matches. */
  next(matches: (request: LoggedRequest) => boolean): Promise<LoggedRequest> {
    return new Promise((resolve) => this.#waiters.push({ matches, resolve }));
  }

  /** Forgets what was logged. */
  clear(): void {
    this.all.length = 0;
  }

  add(request: LoggedRequest): void {
    this.all.push(request);
    const reached = this.#waiters.filter(({ matches }) => matches(request));
    this.#waiters = this.#waiters.filter((waiter) => !reached.includes(waiter));
    for (const { resolve } of reached) resolve(request);
  }
}
