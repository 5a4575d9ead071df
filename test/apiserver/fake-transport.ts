import type { ApiError } from '../../src/kube/client-errors.ts';
import type { ApiRequest, ApiTransport, BodySink } from '../../src/kube/client-transport.ts';
import { fail, type Result, succeed } from '../../src/model/result.ts';
import { settle } from '../stepped-clock.ts';

/** A request that waits for its test to answer it. */
export class FakeCall {
  readonly request: ApiRequest;
  readonly #sink: BodySink;
  readonly #resolve: (result: Result<undefined, ApiError>) => void;

  constructor(request: ApiRequest, sink: BodySink, resolve: (result: Result<undefined, ApiError>) => void) {
    this.request = request;
    this.#sink = sink;
    this.#resolve = resolve;
    request.signal?.addEventListener('abort', () => resolve(fail({ kind: 'aborted' })));
  }

  get query(): Readonly<Record<string, string>> {
    return this.request.query ?? {};
  }

  get aborted(): boolean {
    return this.request.signal?.aborted ?? false;
  }

  /** Accepts the request; pieces of the body may follow. */
  open(): this {
    this.#sink.opened?.();
    return this;
  }

  bytes(bytes: Buffer): void {
    this.#sink.chunk(bytes);
  }

  text(text: string): void {
    this.bytes(Buffer.from(text));
  }

  /** Sends one event of a watch. */
  event(type: string, object: unknown): void {
    this.text(`${JSON.stringify({ type, object })}\n`);
  }

  async end(): Promise<void> {
    this.#resolve(succeed(undefined));
    await settle();
  }

  /** Accepts the request with one JSON document. */
  async answer(json: unknown): Promise<void> {
    this.open().text(JSON.stringify(json));
    await this.end();
  }

  async fail(error: ApiError): Promise<void> {
    this.#resolve(fail(error));
    await settle();
  }
}

/** A transport whose answers are given by the test, request by request. */
export class FakeTransport implements ApiTransport {
  readonly calls: FakeCall[] = [];
  #waiting: ((call: FakeCall) => void)[] = [];
  #taken = 0;

  send(request: ApiRequest, sink: BodySink): Promise<Result<undefined, ApiError>> {
    const { promise, resolve } = Promise.withResolvers<Result<undefined, ApiError>>();
    const call = new FakeCall(request, sink, resolve);
    this.calls.push(call);
    this.#waiting.shift()?.(call);
    return promise;
  }

  close(): void {}

  /** The oldest request that was not taken yet, as soon as there is one. */
  next(): Promise<FakeCall> {
    const call = this.calls[this.#taken];
    this.#taken += 1;
    return call ? Promise.resolve(call) : new Promise((resolve) => this.#waiting.push(resolve));
  }
}
