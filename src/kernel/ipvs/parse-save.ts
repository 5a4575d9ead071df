import type { Protocol } from '../../net/protocol.ts';
import { parseAddressPort } from './address-port.ts';
import {
  type Forwarding,
  type IpvsState,
  type RealServer,
  type VirtualServer,
  type VirtualServerKey,
  virtualServerKey,
} from './state.ts';

/**
 * Reads what `ipvsadm -Sn` prints, or `renderIpvsState`; connections are not in it. Services by firewall mark are
 * left out. A line of any other form gives `undefined`.
 */
export function parseIpvsSave(text: string): IpvsState | undefined {
  const state = new Map<VirtualServerKey, VirtualServer>();
  const reals = new Map<VirtualServerKey, RealServer[]>();
  for (const line of text.split('\n')) {
    const words = line.trim().split(/\s+/);
    const [command, protocolFlag, target = ''] = words;
    if (command === '' || protocolFlag === '-f') continue;
    const protocol = PROTOCOLS[protocolFlag ?? ''];
    const frontend = parseAddressPort(target);
    if (!protocol || !frontend) return undefined;
    const key = virtualServerKey({ protocol, ...frontend });
    const options = readOptions(words.slice(3));
    if (!options) return undefined;
    if (command === '-A') {
      const realServers: RealServer[] = [];
      reals.set(key, realServers);
      state.set(key, { protocol, ...frontend, ...serverOptions(options), realServers });
    } else {
      const real = command === '-a' ? readReal(options) : undefined;
      const siblings = reals.get(key);
      if (!real || !siblings) return undefined;
      siblings.push(real);
    }
  }
  return state;
}

type Options = ReadonlyMap<string, string>;

/** Option → its value; `''` for one without. */
function readOptions(words: readonly string[]): Options | undefined {
  const options = new Map<string, string>();
  for (let index = 0; index < words.length; index++) {
    const name = words[index] ?? '';
    if (!name.startsWith('-')) return undefined;
    const next = words[index + 1];
    const value = next !== undefined && !next.startsWith('-') ? next : '';
    if (value !== '') index++;
    options.set(name, value);
  }
  return options;
}

function serverOptions(options: Options): Pick<VirtualServer, 'scheduler' | 'persistenceSeconds' | 'schedulerFlags'> {
  const flags = options.get('-b') ?? '';
  return {
    scheduler: options.get('-s') ?? '',
    persistenceSeconds: Number(options.get('-p') ?? 0),
    schedulerFlags: flags === '' ? [] : flags.split(','),
  };
}

function readReal(options: Options): RealServer | undefined {
  const backend = parseAddressPort(options.get('-r') ?? '');
  const method = [...options.keys()].map((name) => METHODS[name]).find((forwarding) => forwarding !== undefined);
  const weight = Number(options.get('-w') ?? Number.NaN);
  if (!backend || !method || !Number.isInteger(weight)) return undefined;
  return { ...backend, forwarding: method, weight };
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = { '-t': 'TCP', '-u': 'UDP', '--sctp-service': 'SCTP' };
const METHODS: Readonly<Record<string, Forwarding>> = { '-m': 'masquerade', '-g': 'route', '-i': 'tunnel' };
