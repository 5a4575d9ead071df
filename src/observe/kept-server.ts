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
  /** It cannot listen and is tried again; called when the reason becomes another one. */
  readonly failed: (message: string) => void;
  /** It listens after all. */
  readonly recovered: () => void;
}

/** A server whose port may be taken at first. */
export class KeptServer {
  readonly #options: KeptServerOptions;
  #listening: Listening | undefined;
  #cancelRetry: CancelTimer = () => {};
  #isStopped = false;
  #said: string | undefined;

  constructor(options: KeptServerOptions) {
    this.#options = options;
  }

  /** The port it listens on; `undefined` while it does not. */
  get port(): number | undefined {
    return this.#listening?.port;
  }

  /** Resolves after the first try; fails only where that ends the process. */
  async start(): Promise<Result<void, string>> {
    const { where, answer, listen, clock, hardFail, failed, recovered } = this.#options;
    const opened = await listen(where, answer);
    if (opened.ok && this.#isStopped) await opened.value.close();
    else if (opened.ok) {
      this.#listening = opened.value;
      if (this.#said !== undefined) recovered();
    } else if (hardFail) return opened;
    else if (!this.#isStopped) {
      if (opened.error !== this.#said) failed(opened.error);
      this.#said = opened.error;
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
