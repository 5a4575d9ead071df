/** The longest time between two turns of the event loop. */
export interface LongestHold {
  /** As time went by; other programs may have had the processor. */
  readonly heldMs: number;
  /** The most that this thread worked between two turns, garbage collection included. */
  readonly busyMs: number;
}

/** Watches how long the event loop is held, by a timer of one millisecond. */
export class LoopWatch {
  #timer: NodeJS.Timeout | undefined;
  #heldMs = 0;
  #busyMs = 0;

  start(): void {
    this.#heldMs = 0;
    this.#busyMs = 0;
    let [wall, busy] = [performance.now(), threadMs()];
    this.#timer = setInterval(() => {
      const [wallNow, busyNow] = [performance.now(), threadMs()];
      this.#heldMs = Math.max(this.#heldMs, wallNow - wall);
      this.#busyMs = Math.max(this.#busyMs, busyNow - busy);
      [wall, busy] = [wallNow, busyNow];
    }, 1);
  }

  stop(): LongestHold {
    clearInterval(this.#timer);
    return { heldMs: this.#heldMs, busyMs: this.#busyMs };
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
