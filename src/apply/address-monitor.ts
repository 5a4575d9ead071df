import type { CancelTimer, Clock } from '../queue/clock.ts';
import { parseAddressEvent } from './address-event.ts';
import type { FollowedTool, FollowingHost } from './host.ts';
import { describeToolError, type ToolError } from './tool.ts';

export interface AddressMonitorOptions {
  readonly host: Pick<FollowingHost, 'followTool'>;
  readonly clock: Clock;
  /** An address of the node has come or gone, or may have without being noticed. */
  readonly changed: () => void;
  /** Addresses are not followed for now; called when the reason becomes another one. */
  readonly trouble: (message: string) => void;
  readonly recovered: () => void;
}

/**
 * Follows the addresses of the node's interfaces, all but those of `kube-ipvs0`, by one process of `ip` that the kernel tells of changes.
 * When it ends it is started again, after 1, 2, 4, … 30 s. A renewed lifetime, as routers announce it again and again, is no change.
 */
export class AddressMonitor {
  readonly #options: AddressMonitorOptions;
  readonly #present = new Set<string>();
  #running: FollowedTool | undefined;
  #cancelTimer: CancelTimer = () => {};
  #failures = 0;
  #said: string | undefined;
  #stopped = false;

  constructor(options: AddressMonitorOptions) {
    this.#options = options;
  }

  start(): void {
    const { host, clock } = this.#options;
    this.#present.clear();
    const running = host.followTool({ tool: 'ip', args: ['-o', 'monitor', 'address'] }, (line) => this.#hear(line));
    this.#running = running;
    this.#cancelTimer = clock.after(SETTLED_MS, () => this.#settle());
    void running.ended.then((reason) => {
      if (reason && !this.#stopped) this.#restart(reason);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    this.#running?.stop();
    await this.#running?.ended;
  }

  /** What is no event tells that events were lost. */
  #hear(line: string): void {
    const event = parseAddressEvent(line);
    if (event === 'ignored' || this.#stopped) return;
    if (event?.kind === 'present' && this.#present.has(event.subject)) return;
    if (event?.kind === 'present') this.#present.add(event.subject);
    else if (event) this.#present.delete(event.subject);
    this.#options.changed();
  }

  #restart(reason: ToolError): void {
    this.#cancelTimer();
    this.#failures += 1;
    const message = describeToolError(reason);
    if (message !== this.#said) this.#options.trouble(message);
    this.#said = message;
    this.#cancelTimer = this.#options.clock.after(restartDelayMs(this.#failures), () => {
      this.start();
      if (reason.kind !== 'tool-missing') this.#options.changed();
    });
  }

  #settle(): void {
    this.#failures = 0;
    if (this.#said === undefined) return;
    this.#said = undefined;
    this.#options.recovered();
  }
}

/** A process that has lived this long works. */
const SETTLED_MS = 10_000;

function restartDelayMs(failures: number): number {
  return Math.min(30_000, 1000 * 2 ** (failures - 1));
}
