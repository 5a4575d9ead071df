/**
 * Reads a Go duration: "1h30m", "1.5h", "500ms", "-2s", or a bare "0". Gives milliseconds, with a fraction below one
 * millisecond; `undefined` for anything else and for what 64 bits of nanoseconds cannot hold (about 292 years).
 *
 * Source: Go time.ParseDuration
 */
export function parseDuration(text: string): number | undefined {
  if (/^[-+]?0$/.test(text)) return 0;
  if (!DURATION.test(text)) return undefined;
  let nanoseconds = 0;
  for (const [, amount, unit = ''] of text.matchAll(COMPONENT)) {
    nanoseconds += Math.round(Number(amount) * (NANOSECONDS[unit] ?? Number.NaN));
  }
  if (nanoseconds > MAX_NANOSECONDS) return undefined;
  return (text.startsWith('-') && nanoseconds !== 0 ? -nanoseconds : nanoseconds) / 1e6;
}

/**
 * Writes milliseconds as Go prints a duration: "15m0s", "24h0m0s", "1.5s", "500ms", "0s".
 *
 * Source: Go time.Duration.String
 */
export function formatDuration(durationMs: number): string {
  if (durationMs < 0) return `-${formatDuration(-durationMs)}`;
  const nanoseconds = Math.round(durationMs * 1e6);
  if (nanoseconds === 0) return '0s';
  if (nanoseconds < 1e3) return `${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${nanoseconds / 1e3}µs`;
  if (nanoseconds < 1e9) return `${nanoseconds / 1e6}ms`;
  return formatLongDuration(durationMs);
}

const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3, // U+00B5, micro sign
  μs: 1e3, // U+03BC, Greek letter mu
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const UNIT = 'ns|us|µs|μs|ms|s|m|h';
const AMOUNT = String.raw`\d+\.?\d*|\.\d+`;
const DURATION = new RegExp(`^[-+]?(?:(?:${AMOUNT})(?:${UNIT}))+$`);
const COMPONENT = new RegExp(`(${AMOUNT})(${UNIT})`, 'g');
const MAX_NANOSECONDS = 2 ** 63 - 1024; // the largest number below 2⁶³

function formatLongDuration(durationMs: number): string {
  let wholeSeconds = Math.floor(durationMs / 1000);
  let fraction = Math.round((durationMs - wholeSeconds * 1000) * 1e6);
  if (fraction === 1e9) [wholeSeconds, fraction] = [wholeSeconds + 1, 0];
  const hours = Math.floor(wholeSeconds / 3600);
  const minutes = Math.floor(wholeSeconds / 60) % 60;
  const decimals = fraction === 0 ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  const seconds = `${wholeSeconds % 60}${decimals}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
