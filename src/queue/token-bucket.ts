export interface TokenBucketOptions {
  readonly perSecond: number;
  /** Tokens of a full bucket. */
  readonly burst: number;
}

/** A bucket of tokens. Who finds it empty is told when the token will be there, or goes without. It starts full. */
export class TokenBucket {
  readonly #intervalMs: number;
  readonly #burst: number;
  /** Negative when tokens were given away in advance. */
  #tokens: number;
  #countedMs: number;

  constructor({ perSecond, burst }: TokenBucketOptions, nowMs: number) {
    if (!(perSecond > 0 && burst >= 1))
      throw new RangeError(`impossible bucket: ${perSecond} a second, burst ${burst}`);
    this.#intervalMs = 1000 / perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#countedMs = nowMs;
  }

  /** Takes a token if there is one; false when there is none. */
  take(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes the next token, and gives the time from when on it may be used: `nowMs`, or later when the bucket is empty. */
  reserve(nowMs: number): number {
    this.#fill(nowMs);
    this.#tokens -= 1;
    return nowMs + Math.max(0, -this.#tokens * this.#intervalMs);
  }

  #fill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#countedMs);
    this.#tokens = Math.min(this.#burst, this.#tokens + passedMs / this.#intervalMs);
    this.#countedMs += passedMs;
  }
}
