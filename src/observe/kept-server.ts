import { type Result, succeed } from '../model/result.ts';
import type { CancelTimer, Clock } from '../queue/clock.ts';
import type { Answer, Listen, ListenAddress, Listening } from './listen.ts';

export interface KeptServerOptions {
  readonly where: ListenAddress;
  readonly answer: Answer;
  readonly listen: Listen;
  readonly clock: Clock;
  /** Whether a port that cannot be had is an error of `start`, or is tried again for as long as it takes. */
  readonly hardFail: boolean;
  /** Told of each try that failed, where it is tried again. */
  readonly failed: (message: string) => void;
}

/** A server whose port may be taken at first. */
export class KeptServer {
  readonly #options: KeptServerOptions;
  #listening: Listening | undefined;
  #cancelRetry: CancelTimer = () => {};
  #isStopped = false;

  constructor(options: KeptServerOptions) {
    this.#options = options;
  }

  /** The port it listens on; `undefined` while it does not. */
  get port(): number | undefined {
    return this.#listening?.port;
  }

  /** Resolves after the first try; fails only where that ends the process. */
  async start(): Promise<Result<void, string>> {
    const { where, answer, listen, clock, hardFail, failed } = this.#options;
    const opened = await listen(where, answer);
    if (opened.ok && this.#isStopped) await opened.value.close();
    else if (opened.ok) this.#listening = opened.value;
    else if (hardFail) return opened;
    else if (!this.#isStopped) {
      failed(opened.error);
      this.#cancelRetry = clock.after(RETRY_MS, () => void this.start());
    }
    return succeed(undefined);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelRetry();
    await this.#listening?.close();
    this.#listening = undefined;
  }
}

/** Source: kubernetes/kubernetes cmd/kube-proxy/app/server.go */
const RETRY_MS = 5_000;
