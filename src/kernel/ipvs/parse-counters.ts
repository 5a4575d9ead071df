import { parseProtocol } from '../../net/protocol.ts';
import { parseHexAddressPort } from './address-port.ts';
import { wordsByLine } from './listing.ts';
import { type RealServerKey, realServerKey, type VirtualServerKey, virtualServerKey } from './state.ts';

/** Numbers of one virtual server, or of one real server of it. */
export interface CounterRow {
  readonly frontend: VirtualServerKey;
  /** `undefined` for the virtual server itself. */
  readonly backend: RealServerKey | undefined;
  readonly values: readonly number[];
}

/**
 * Reads `ipvsadm -Ln --stats --exact` line by line. Values: connections, packets in and out, bytes in and out. Marks are left out. A line of
 * any other form gives `undefined`, and nothing after it can be trusted.
 *
 * Source: ipvsadm.c, print_service_entry
 */
export function* parseIpvsCounters(text: string): Generator<CounterRow | undefined> {
  let frontend: VirtualServerKey | undefined;
  for (const words of rows(text)) {
    const [first, target] = words;
    const values = numbersAfter(words, 2);
    if (target === undefined || values.length !== COUNTERS || !values.every(Number.isSafeInteger)) yield undefined;
    else if (first === '->') {
      if (frontend !== undefined) yield { frontend, backend: target as RealServerKey, values };
    } else if (first === 'FWM') frontend = undefined;
    else {
      frontend = `${first} ${target}` as VirtualServerKey;
      yield { frontend, backend: undefined, values };
    }
  }
}

/**
 * Reads the connections that stand in `/proc/net/ip_vs`, one row a real server. Values: active and inactive ones. The file may lack virtual
 * servers, as `parseIpvsList` tells; a line of any other form is passed over.
 */
export function* parseConnections(text: string): Generator<CounterRow> {
  let frontend: VirtualServerKey | undefined;
  for (const words of rows(text)) {
    const [first, target = ''] = words;
    const end = parseHexAddressPort(target);
    const protocol = parseProtocol(first);
    if (first !== '->') frontend = end && protocol && virtualServerKey({ protocol, ...end });
    else if (frontend && end) yield { frontend, backend: realServerKey(end), values: numbersAfter(words, 4) };
  }
}

function numbersAfter(words: readonly string[], from: number): readonly number[] {
  const numbers: number[] = [];
  for (let at = from; at < words.length; at += 1) numbers.push(Number(words[at]));
  return numbers;
}

const COUNTERS = 5;
const HEADER_LINES = 3;

/** Words of each line after the header. */
function* rows(text: string): Generator<readonly string[]> {
  let line = 0;
  for (const words of wordsByLine(text)) {
    if (line >= HEADER_LINES && words.length > 1) yield words;
    line += 1;
  }
}
