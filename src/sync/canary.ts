import type { Result } from '../model/result.ts';
import type { CancelTimer, Clock } from '../queue/clock.ts';
import type { SyncError } from './ports.ts';

export interface CanaryOptions {
  readonly clock: Clock;
  /** What others have done to our things; empty when all is well, or when a pass was on its way. */
  readonly look: () => Promise<Result<readonly string[], SyncError>>;
  /** Something of ours has gone or is another one; called after every look that finds it so. */
  readonly drifted: (things: readonly string[]) => void;
  /** What that is; called when it becomes something else. */
  readonly found: (things: readonly string[]) => void;
  /** It could not be looked; told when the reason becomes another one. */
  readonly trouble: (message: string) => void;
}

/**
 * Looks at the kernel every few seconds, so that a flush by somebody else is mended long before the next full pass.
 *
 * Source: kubernetes/kubernetes pkg/util/iptables, Monitor, whose canary chains serve the same end
 */
export class Canary {
  readonly #options: CanaryOptions;
  #cancelTimer: CancelTimer = () => {};
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;
  #said: string | undefined;
  #found = '';

  constructor(options: CanaryOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancelTimer = this.#options.clock.after(EVERY_MS, () => {
      this.#looking = this.#look();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { look, trouble } = this.#options;
    const looked = await look();
    if (this.#stopped) return;
    this.start();
    if (looked.ok) {
      this.#said = undefined;
      this.#judge(looked.value);
      return;
    }
    const message = `${looked.error.during}: ${looked.error.message}`;
    if (message !== this.#said) trouble(message);
    this.#said = message;
  }

  #judge(things: readonly string[]): void {
    const { drifted, found } = this.#options;
    const now = things.join(', ');
    if (now !== '' && now !== this.#found) found(things);
    this.#found = now;
    if (now !== '') drifted(things);
  }
}

/** With the look and the pass after it, a flush is mended within ten seconds. */
const EVERY_MS = 5000;
