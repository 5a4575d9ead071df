import { assertNever } from '../../model/assert-never.ts';
import { protocolNumber } from '../../net/protocol.ts';
import type { IpsetStep } from './diff.ts';
import type { IpSet, IpsetState, SetEntry } from './state.ts';

/** The whole state as lines of `ipset restore`: all sets, then all entries, sorted. */
export function renderIpsetState(state: IpsetState): string {
  return [...renderIpsetParts(state)].join('');
}

/** The same in many parts, each a whole line. */
export function* renderIpsetParts(state: IpsetState): Generator<string> {
  const sets = [...state.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const set of sets) yield `${renderIpsetStep({ kind: 'create-set', set })}\n`;
  for (const { name, entries } of sets) {
    for (const entry of [...entries].sort()) yield `add ${name} ${numberProtocol(entry)}\n`;
  }
}

/** Lines of `ipset restore` in the order of the steps; `''` for no steps. */
export function renderIpsetSteps(steps: readonly IpsetStep[]): string {
  return steps.map((step) => `${renderIpsetStep(step)}\n`).join('');
}

export function renderIpsetStep(step: IpsetStep): string {
  switch (step.kind) {
    case 'create-set':
      return `create ${step.set.name} ${renderParameters(step.set)}`;
    case 'add-entry':
      return `add ${step.set.name} ${numberProtocol(step.entry)}`;
    case 'swap-sets':
      return `swap ${step.set.name} ${step.other}`;
    case 'destroy-set':
      return `destroy ${step.name}`;
    case 'delete-entry':
      return `del ${step.set.name} ${numberProtocol(step.entry)}`;
    default:
      return assertNever(step);
  }
}

function renderParameters(set: IpSet): string {
  if (set.family === undefined) return `${set.type} range 0-65535`;
  return `${set.type} family ${set.family === 'IPv4' ? 'inet' : 'inet6'} hashsize 1024 maxelem ${set.maxEntries}`;
}

/** Numbers are read several times faster than names, and also where the node has no /etc/protocols. */
function numberProtocol(entry: SetEntry): string {
  const start = entry.indexOf(',') + 1;
  const name = PROTOCOLS.find((protocol) => start > 0 && entry.startsWith(protocol, start));
  return name ? `${entry.slice(0, start)}${NUMBERS[name]}${entry.slice(start + name.length - 1)}` : entry;
}

const PROTOCOLS = ['tcp:', 'udp:', 'sctp:'] as const;
const NUMBERS = { 'tcp:': protocolNumber('TCP'), 'udp:': protocolNumber('UDP'), 'sctp:': protocolNumber('SCTP') };
