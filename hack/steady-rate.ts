/** Changes at a steady rate: whoever looks late, as timers make one, finds all that is due by then. */
export class SteadyRate {
  readonly #perSecond: number;
  readonly #startMs: number;
  #taken = 0;
  #lookedMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#startMs = nowMs;
    this.#lookedMs = nowMs;
  }

  /** How many are due and were not taken yet; they are now. */
  take(nowMs: number): number {
    const due = Math.floor(((nowMs - this.#startMs) * this.#perSecond) / 1000) - this.#taken;
    this.#taken += due;
    this.#lookedMs = nowMs;
    return due;
  }

  /** How many a second were taken until the last look. */
  reached(): number {
    return (this.#taken * 1000) / (this.#lookedMs - this.#startMs);
  }
}
