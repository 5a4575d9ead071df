import type {
  DaemonStatus,
  PassStatus,
  QuarantineStatus,
  ResourceStatus,
  ServiceStatus,
  StatusAnswer,
  VirtualServerStatus,
} from '../observe/status.ts';

/** A daemon's answer for people. */
export function renderStatus(status: StatusAnswer): string {
  const { services = [], ...daemon } = status;
  const lines =
    services.length > 0 ? services.flatMap((each) => describeService(each, daemon)) : describeDaemon(daemon);
  return `${lines.join('\n')}\n`;
}

function describeDaemon(status: DaemonStatus): readonly string[] {
  const { version, node, mode, behaviour, scheduler, uptimeSeconds, totals, queue, drift } = status;
  const repaired = counts(drift.repaired);
  return [
    `ipvs-proxier ${version} on ${node}: up ${duration(uptimeSeconds)}, mode ${mode}, behaviour ${behaviour}, scheduler ${scheduler}`,
    `health: ${describeHealth(status)}`,
    `services: ${totals.services}, with ${totals.virtualServers} virtual servers, ${totals.realServers} real servers; ${totals.draining} draining`,
    `queue: ${queue.waiting} waiting${queue.waiting === 0 ? '' : ` (${counts(queue.byLevel)})`}`,
    ...describePasses(status),
    `drift: ${drift.noticed.length === 0 ? 'none noticed' : 'noticed'}; repaired: ${repaired === '' ? 'nothing' : repaired}`,
    ...drift.noticed.slice(0, SHOWN).map(({ at, things }) => `  ${at} ${things.join(', ')}`),
    `quarantine: ${status.quarantine.length === 0 ? 'none' : ''}`.trimEnd(),
    ...status.quarantine.map((each) => `  ${each.service} ${describeQuarantine(each)}`),
    ...(status.draining.length === 0 ? [] : ['draining:']),
    ...status.draining
      .slice(0, SHOWN)
      .map(({ virtualServer, realServer, seconds }) => `  ${realServer} of ${virtualServer} for ${duration(seconds)}`),
    ...(totals.draining > SHOWN ? [`  and ${totals.draining - SHOWN} more`] : []),
    'API server:',
    ...status.apiServer.map(describeResource),
  ];
}

/** Of each list that may be long. */
const SHOWN = 5;

function describeHealth({ health }: DaemonStatus): string {
  const node = health.nodeEligible ? '' : '; the own Node is not known, or about to go';
  const late = health.live ? '' : ', passes are late';
  return `${health.healthy ? 'healthy' : `not healthy${late}`}${node}`;
}

function describePasses({ passes }: DaemonStatus): readonly string[] {
  const { full, normal, failed, latest, notable } = passes;
  return [
    `passes: ${full} full, ${normal} normal, ${failed} failed`,
    ...(latest
      ? [`  latest ${describePass(latest)}`]
      : ['  none yet: the first lists are not complete, or the own Node is missing']),
    ...notable
      .filter(({ at }) => at !== latest?.at)
      .slice(0, SHOWN)
      .map((pass) => `  ${describePass(pass)}`),
  ];
}

function describePass({ at, kind, reasons, level, services, ms, steps, errors }: PassStatus): string {
  const done = counts(steps);
  const parts = [
    `${at} ${kind} (${reasons.join(', ')})`,
    ...(level === undefined ? [] : [`level ${level}`]),
    `${services} services`,
    `${ms} ms`,
    done === '' ? 'nothing to do' : done,
    ...errors.map((error) => `failed: ${error}`),
  ];
  return parts.join(', ');
}

function describeResource({ resource, lists, events, lastHeard, trouble }: ResourceStatus): string {
  const state = trouble === undefined ? (lists === 0 ? 'not listed yet' : 'followed') : `failing: ${trouble}`;
  return `  ${resource}: ${state}, ${events} events${lastHeard === undefined ? '' : `, last heard ${lastHeard}`}`;
}

function describeQuarantine({ since, failures, why, nextTryInSeconds }: QuarantineStatus): string {
  const next = nextTryInSeconds === undefined ? 'in a pass now' : `next try in ${duration(nextTryInSeconds)}`;
  return `since ${since}, ${failures} failures, ${next}${why === undefined ? '' : `: ${why}`}`;
}

function describeService({ name, virtualServers }: ServiceStatus, { quarantine }: DaemonStatus): readonly string[] {
  const kept = quarantine.find(({ service }) => service === name);
  return [
    name,
    ...(kept ? [`  in quarantine ${describeQuarantine(kept)}`] : []),
    ...virtualServers.flatMap(describeVirtualServer),
  ];
}

function describeVirtualServer(server: VirtualServerStatus): readonly string[] {
  const { address, port, kind, scheduler, persistenceSeconds, programmed, realServers } = server;
  const persistence = persistenceSeconds > 0 ? `, persistent ${persistenceSeconds} s` : '';
  const name = port === '' ? '' : ` ${port}`;
  const missing = programmed ? '' : ', not in the kernel';
  return [
    `  ${address} (${kind}${name}) ${scheduler}${persistence}${missing}`,
    ...(realServers.length === 0 ? ['    no real servers'] : []),
    ...realServers.map(({ address: real, state, weight, active, inactive, drainingSeconds }) => {
      const since = drainingSeconds === undefined ? '' : ` for ${duration(drainingSeconds)}`;
      const numbers = [
        ...(weight === undefined ? [] : [`weight ${weight}`]),
        ...(active === undefined ? [] : [`active ${active}`]),
        ...(inactive === undefined ? [] : [`inactive ${inactive}`]),
      ];
      return `    ${[`${real} ${state}${since}`, ...numbers].join(', ')}`;
    }),
  ];
}

/** `add-entry 3, bind-address 1`, without those that are 0. */
function counts(numbers: Readonly<Record<string, number>>): string {
  const some = Object.entries(numbers).filter(([, count]) => count > 0);
  return some.map(([name, count]) => `${name} ${count}`).join(', ');
}

/** `3d 4h`, `12m 5s`: the two largest units. */
function duration(seconds: number): string {
  const units = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['m', Math.floor(seconds / 60) % 60],
    ['s', Math.floor(seconds) % 60],
  ] as const;
  const first = units.findIndex(([, count]) => count > 0);
  if (first < 0) return '0s';
  return units
    .slice(first, first + 2)
    .filter(([, count], index) => index === 0 || count > 0)
    .map(([unit, count]) => `${count}${unit}`)
    .join(' ');
}
