import { parsePort } from '../net/port.ts';

/**
 * Checks the text of a port range: "", "PORT", "FIRST-LAST" or "FIRST+COUNT" with ports up to 65535. Gives the text back,
 * or `undefined`; nothing uses the range.
 *
 * Source: k8s.io/apimachinery pkg/util/net PortRange
 */
export function parsePortRange(value: unknown): string | undefined {
  if (value === '') return value;
  const [whole, first, sign, second] = /^(\d+)(?:([-+])(\d+))?$/.exec(typeof value === 'string' ? value : '') ?? [];
  if (whole === undefined) return undefined;
  const start = Number(first);
  const end = sign === undefined ? start : sign === '-' ? Number(second) : start + Number(second);
  return whole === '0-0' || (parsePort(start) && parsePort(end) && start <= end) ? whole : undefined;
}
