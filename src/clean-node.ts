import { type Host, systemHost } from './apply/host.ts';
import { describeLockError, lockNode } from './apply/node-lock.ts';
import { readEveryTable, readLeftovers, unreadableRules } from './apply/read-leftovers.ts';
import { type Cleaned, type Look, runCleanup, scriptSteps } from './apply/run-cleanup.ts';
import { describeToolError } from './apply/tool.ts';
import { removeIptablesMode } from './cleanup/iptables-mode.ts';
import { describeRemoved, NOTHING_REMOVED } from './cleanup/leftovers.ts';
import { nftablesModeTables, renderTableDeletions } from './cleanup/nftables-mode.ts';
import { planCleanup } from './cleanup/plan-cleanup.ts';
import { renderTableRemovals } from './cleanup/table-removal.ts';
import type { CleanedMode, CleanupArguments } from './cli/arguments.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { readConfig } from './cli/read-config.ts';
import type { Terminal } from './cli/terminal.ts';
import { holdNode } from './hold-node.ts';
import type { Cidr } from './net/cidr.ts';
import { FAMILIES } from './net/family.ts';
import { type Clock, systemClock } from './queue/clock.ts';

/** What is cleaned. */
export interface CleanupSurroundings {
  readonly host: Host;
  readonly clock: Clock;
  readonly lock: typeof lockNode;
}

const THIS_MACHINE: CleanupSurroundings = { host: systemHost, clock: systemClock, lock: lockNode };

/** Removes what a mode of service proxies left on this node, one mode after the other, or prints the scripts that would. */
export async function cleanNode(
  args: CleanupArguments,
  version: string,
  terminal: Terminal,
  surroundings: CleanupSurroundings = THIS_MACHINE,
): Promise<ExitCode> {
  const config = await readConfig(args.flags, terminal);
  if (!config) return 2;
  let exitCode: ExitCode = 0;
  for (const mode of args.of) {
    const clean = (lookAt: (host: Host) => Promise<Look>) =>
      args.action === 'dry-run'
        ? printScripts(lookAt, terminal, surroundings)
        : removeAndTell(mode, lookAt, terminal, surroundings);
    const done = await cleanMode(mode, {
      clean,
      args,
      version,
      terminal,
      surroundings,
      excluded: config.ipvs.excludeCIDRs,
    });
    if (done !== 0) exitCode = done;
  }
  return exitCode;
}

interface ModeParts {
  readonly clean: (lookAt: (host: Host) => Promise<Look>) => Promise<ExitCode>;
  readonly args: CleanupArguments;
  readonly version: string;
  readonly terminal: Terminal;
  readonly surroundings: CleanupSurroundings;
  readonly excluded: readonly Cidr[];
}

/**
 * What the daemon programs is not removed while it runs: it would only program it again. Of iptables mode, what the daemon does not use can be
 * removed beside it.
 */
async function cleanMode(mode: CleanedMode, parts: ModeParts): Promise<ExitCode> {
  const { clean, args, version, terminal, surroundings, excluded } = parts;
  if (mode === 'nftables') return clean(lookAtNftables);
  const cleanIpvs = () => clean((host) => lookAtIpvs(host, excluded));
  if (mode === 'ipvs' && args.action === 'dry-run') return cleanIpvs();
  const hold = {
    lock: surroundings.lock,
    command: 'cleanup',
    version,
    patienceMs: 0,
    stop: new Promise<never>(() => {}),
    waiting: () => {},
  } as const;
  const held = await holdNode(
    hold,
    mode === 'ipvs' ? cleanIpvs : () => clean((host) => lookAtIptables(host, 'unknown')),
  );
  if (held.ok) return held.value;
  if (mode === 'iptables' && held.error.kind === 'lock-held') return clean((host) => lookAtIptables(host, 'in use'));
  const why = held.error.kind === 'stopped' ? '' : describeLockError(held.error);
  terminal.error(`error: ${why}; nothing was removed`);
  return 1;
}

async function printScripts(
  lookAt: (host: Host) => Promise<Look>,
  terminal: Terminal,
  { host }: CleanupSurroundings,
): Promise<ExitCode> {
  const { steps, kept, troubles } = await lookAt(host);
  const sections = steps.map(({ call: { tool, args, input } }) => `# ${[tool, ...args].join(' ')}\n${input ?? ''}`);
  await terminal.output(sections.length === 0 ? '# nothing\n' : sections.join('\n'));
  for (const { what, why } of kept) terminal.error(`note: ${what} stays: ${why}`);
  for (const trouble of troubles) terminal.error(`error: ${trouble}`);
  return troubles.length === 0 ? 0 : 1;
}

async function removeAndTell(
  mode: CleanedMode,
  lookAt: (host: Host) => Promise<Look>,
  terminal: Terminal,
  { host, clock }: CleanupSurroundings,
): Promise<ExitCode> {
  const { removed, kept, troubles }: Cleaned = await runCleanup(host, clock, () => lookAt(host));
  const nothing = troubles.length === 0 ? `nothing of ${mode} mode is left on this node` : 'nothing was removed';
  const lines = [describeRemoved(removed) ?? nothing, ...kept.map(({ what, why }) => `${what} stays: ${why}`)];
  await terminal.output(lines.map((line) => `${line}\n`).join(''));
  for (const trouble of troubles) terminal.error(`error: ${trouble}`);
  return troubles.length === 0 ? 0 : 1;
}

async function lookAtIpvs(host: Host, excluded: readonly Cidr[]): Promise<Look> {
  const { leftovers, troubles } = await readLeftovers(host);
  const { scripts, sets, removed, kept } = planCleanup(leftovers, excluded);
  return { steps: scriptSteps(scripts, sets), removed, kept, troubles };
}

/** Where nobody is known to run ipvs mode, its own chain tells. */
async function lookAtIptables(host: Host, ipvsMode: 'in use' | 'unknown'): Promise<Look> {
  const read = await readEveryTable(host);
  const families = FAMILIES.flatMap((family) => {
    const tables = read[family];
    if (!tables.ok) return [];
    const inUse = ipvsMode === 'in use' || tables.value.get('filter')?.has('KUBE-IPVS-FILTER') === true;
    return [{ family, ...removeIptablesMode(tables.value, inUse) }];
  });
  const scripts = families.map(
    ({ family, removals }) =>
      ({ tool: family === 'IPv4' ? 'iptables' : 'ip6tables', text: renderTableRemovals(removals) }) as const,
  );
  const removals = families.flatMap((each) => each.removals);
  return {
    steps: scriptSteps(scripts.filter(({ text }) => text !== '')),
    removed: {
      ...NOTHING_REMOVED,
      chains: removals.flatMap(({ chains }) => chains).length,
      rules: removals.flatMap(({ rules }) => rules).length,
    },
    kept: families.flatMap(({ family, kept }) =>
      kept.map(({ table, chain, why }) => ({ what: `${family} chain ${chain} of table ${table}`, why })),
    ),
    troubles: await unreadableRules(host, read),
  };
}

async function lookAtNftables(host: Host): Promise<Look> {
  const listed = await host.runTool({ tool: 'nft', args: ['list', 'tables'], timeoutMs: 30_000 });
  if (!listed.ok) {
    return { steps: [], removed: NOTHING_REMOVED, kept: [], troubles: [describeToolError(listed.error)] };
  }
  const families = nftablesModeTables(listed.value.stdout);
  const call = { tool: 'nft', args: ['-f', '-'], input: renderTableDeletions(families), timeoutMs: 30_000 } as const;
  return {
    steps: families.length === 0 ? [] : [{ call }],
    removed: { ...NOTHING_REMOVED, tables: families.length },
    kept: [],
    troubles: [],
  };
}
