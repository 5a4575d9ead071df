import { assertNever } from '../../model/assert-never.ts';
import { formatAddressPort } from '../../net/ip-address.ts';
import type { IpvsStep } from './diff.ts';
import { type Forwarding, type IpvsState, type RealServer, realServerKey, type VirtualServer } from './state.ts';

/** The whole state as sorted lines, each as `ipvsadm -Sn` prints it; `ipvsadm -R` builds the state from them in this order. */
export function renderIpvsState(state: IpvsState): string {
  return [...renderIpvsParts(state)].join('');
}

/** The same in many parts, each some whole lines: all of it at once may be as large as the state. */
export function* renderIpvsParts(state: IpvsState): Generator<string> {
  const servers = [...state.values()].map((server) => [serviceFlag(server), server] as const).sort(byName);
  for (const [, server] of servers) yield `${renderServer('-A', server)}\n`;
  for (const [flag, { realServers }] of servers) {
    const start = `-a ${flag} -r `;
    const lines = realServers.map((real) => `${start}${realServerKey(real)} ${realOptions(real)}\n`);
    yield lines.sort().join('');
  }
}

/** Sorts lines too, as a blank comes before everything that is in a name. */
function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Lines of `ipvsadm -R` in the order of the steps; `''` for no steps. Comments are not possible there. */
export function renderIpvsSteps(steps: readonly IpvsStep[]): string {
  return joinLines(steps.map(renderIpvsStep));
}

export function renderIpvsStep(step: IpvsStep): string {
  switch (step.kind) {
    case 'add-virtual-server':
      return renderServer('-A', step.server);
    case 'edit-virtual-server':
      return renderServer('-E', step.server);
    case 'delete-virtual-server':
      return `-D ${serviceFlag(step.server)}`;
    case 'add-real-server':
      return renderReal('-a', step.server, step.real);
    case 'edit-real-server':
      return renderReal('-e', step.server, step.real);
    case 'delete-real-server':
      return `-d ${serviceFlag(step.server)} -r ${formatAddressPort(step.real.address, step.real.port)}`;
    default:
      return assertNever(step);
  }
}

function renderServer(command: '-A' | '-E', server: VirtualServer): string {
  const persistence = server.persistenceSeconds > 0 ? ` -p ${server.persistenceSeconds}` : '';
  const flags = server.schedulerFlags?.length ? ` -b ${server.schedulerFlags.join(',')}` : '';
  return `${command} ${serviceFlag(server)} -s ${server.scheduler}${persistence}${flags}`;
}

function renderReal(command: '-a' | '-e', server: VirtualServer, real: RealServer): string {
  const address = formatAddressPort(real.address, real.port);
  return `${command} ${serviceFlag(server)} -r ${address} ${realOptions(real)}`;
}

function realOptions({ forwarding, weight }: RealServer): string {
  return `${FORWARDING_FLAGS[forwarding]} -w ${weight}`;
}

function serviceFlag(server: VirtualServer): string {
  return `${PROTOCOL_FLAGS[server.protocol]} ${formatAddressPort(server.address, server.port)}`;
}

function joinLines(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

const PROTOCOL_FLAGS = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' } as const;

/** `local` and `bypass` are set by the kernel itself, for a real server on this machine; `route` asks for both. */
const FORWARDING_FLAGS: Readonly<Record<Forwarding, string>> = {
  masquerade: '-m',
  route: '-g',
  tunnel: '-i',
  local: '-g',
  bypass: '-g',
};
