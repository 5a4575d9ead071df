import { execa } from 'execa';
import { type Daemon, startDaemon } from './daemon.ts';
import { EMPTY_NODE_SCRIPT } from './empty-node.ts';
import { requireLab } from './in-lab.ts';
import { type Batch, computeHosts, type LabHost, type LabPlan, ROOT, renderBuild, renderDestroy } from './topology.ts';

export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface RunOptions {
  /** Standard input; empty when absent. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface SpawnOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a file in the lab's own memory, read by `daemon.log()`. */
  readonly logFile?: string;
}

/** Nodes, pods and clients as network namespaces of this kernel. Looking up a name the plan does not have throws. */
export interface Lab {
  readonly plan: LabPlan;
  readonly root: LabHost;
  readonly nodes: readonly LabHost[];
  readonly pods: readonly LabHost[];
  node(name: string): LabHost;
  pod(name: string): LabHost;
  /** The plan's first client when no name is given. */
  client(name?: string): LabHost;
  /** Runs a command in a namespace to its end; a failing one is a result like any other. */
  run(namespace: string, command: string, args?: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** The same for a command that has to succeed: its standard output, or an error that shows its standard error. */
  output(namespace: string, command: string, args?: readonly string[], options?: RunOptions): Promise<string>;
  /** Starts a command that goes on; `destroy` kills what still runs. */
  spawn(namespace: string, command: string, args?: readonly string[], options?: SpawnOptions): Daemon;
  /** Rids a node of IPVS, chains, rules, sets, dummy interfaces, conntrack entries and changed sysctls, whoever made them. */
  resetNode(name: string): Promise<void>;
  destroy(): Promise<void>;
}

/** Builds what the plan says. Throws outside hack/lab.sh, and when a part cannot be built. */
export async function buildLab(plan: LabPlan): Promise<Lab> {
  requireLab();
  const hosts = computeHosts(plan);
  const daemons = new Set<Daemon>();
  let started = 0;

  const find = (kind: LabHost['kind'], name: string): LabHost => {
    const host = hosts.get(name);
    if (host?.kind !== kind) throw new Error(`the lab has no ${kind} ${name}`);
    return host;
  };
  const all = (kind: LabHost['kind']): LabHost[] => [...hosts.values()].filter((host) => host.kind === kind);

  for (const batch of renderBuild(plan)) await applyBatch(batch);
  for (const { namespace } of all('node')) await emptyNode(namespace);

  return {
    plan,
    root: find('root', ROOT),
    nodes: all('node'),
    pods: all('pod'),
    node: (name) => find('node', name),
    pod: (name) => find('pod', name),
    client: (name) => find('client', name ?? plan.clients[0]?.name ?? 'at all'),
    run: runIn,
    output: outputOf,
    spawn: (namespace, command, args = [], { env, logFile } = {}) => {
      started += 1;
      const daemon = startDaemon(...inNamespace(namespace, command, args), {
        logFile: logFile ?? `/run/lab/${namespace}-${started}.log`,
        ...(env === undefined ? {} : { env }),
      });
      daemons.add(daemon);
      void daemon.exited.then(() => daemons.delete(daemon));
      return daemon;
    },
    resetNode: async (name) => emptyNode(find('node', name).namespace),
    destroy: async () => {
      await Promise.all([...daemons].map((daemon) => daemon.kill()));
      await runIn(ROOT, 'ip', ['-force', '-batch', '-'], { input: renderDestroy(plan).text });
    },
  };
}

async function applyBatch({ namespace, text }: Batch): Promise<void> {
  const [command, ...args] = namespace === ROOT ? ['ip', '-batch', '-'] : ['ip', '-n', namespace, '-batch', '-'];
  await outputOf(ROOT, command ?? 'ip', args, { input: text });
}

async function emptyNode(namespace: string): Promise<void> {
  await outputOf(namespace, 'sh', ['-c', EMPTY_NODE_SCRIPT]);
}

async function outputOf(
  namespace: string,
  command: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<string> {
  const { stdout, stderr, exitCode } = await runIn(namespace, command, args, options);
  if (exitCode === 0) return stdout;
  throw new Error(`in ${namespace}: ${[command, ...args].join(' ')}: status ${exitCode}\n${stderr}`);
}

async function runIn(
  namespace: string,
  command: string,
  args: readonly string[] = [],
  { input = '', env = {} }: RunOptions = {},
): Promise<RunResult> {
  const [file, fileArgs] = inNamespace(namespace, command, args);
  const result = await execa(file, fileArgs, { input, env, reject: false, stripFinalNewline: false });
  const exitCode = result.exitCode ?? 128;
  return { stdout: result.stdout, stderr: result.stderr || (result.originalMessage ?? ''), exitCode };
}

function inNamespace(namespace: string, command: string, args: readonly string[]): [string, readonly string[]] {
  return namespace === ROOT ? [command, args] : ['ip', ['netns', 'exec', namespace, command, ...args]];
}
