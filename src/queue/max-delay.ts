/**
 * When something may start that both limits hold back: the later of its own time and of the time of its token. Never the earlier one:
 * what has to wait 30 s must not come back after 1 s because others have used up the tokens, nor pass an empty bucket because its own
 * delay is short.
 *
 * Source: kubernetes/client-go util/workqueue/default_rate_limiters.go (MaxOfRateLimiter)
 */
export function laterOf(ownDueMs: number, tokenAtMs: number): number {
  return Math.max(ownDueMs, tokenAtMs);
}
