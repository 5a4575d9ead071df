import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Family } from '../../src/net/family.ts';
import type { Daemon, Exit } from '../lab/daemon.ts';
import { buildLab, type Lab } from '../lab/lab.ts';
import { node as nodeObject } from '../lab/objects.ts';
import { podRanges } from '../lab/topology.ts';
import { startTraffic, type Traffic } from '../lab/traffic.ts';
import { waitFor } from '../lab/wait-for.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type ControlPlane, startFixture } from './control-plane.ts';
import { FAMILIES_OF, type FamilyMode, planOf } from './plan.ts';
import { findBinaries } from './real-binaries.ts';
import { startRealControlPlane } from './real-control-plane.ts';

/** Three nodes with pods, clients outside, and an API server: in the lab, or somewhere else. */
export interface Cluster {
  readonly mode: FamilyMode;
  readonly families: readonly Family[];
  readonly lab: Pick<Lab, 'nodes' | 'pods' | 'node' | 'pod' | 'client' | 'run' | 'output'>;
  readonly traffic: Traffic;
  readonly api: ApiClient;
  /** Whether controllers of its own write EndpointSlices for Services with a selector. */
  readonly hasControllers: boolean;
  /** What is kept of failures. */
  readonly folder: string;
  /** How long a change may take to show in traffic. */
  readonly patienceMs: number;
  /** The log of the program on a node. */
  readLog(node: string): Promise<string>;
  /** Undefined where the program and the API server are not ours to stop. */
  readonly control: ClusterControl | undefined;
}

export interface ClusterControl {
  readonly controlPlane: ControlPlane;
  proxier(node: string): Daemon;
  /** Starts the node's daemon again; the one before has ended. Its log goes into a file of its own. */
  startProxier(node: string, flags?: readonly string[]): Daemon;
}

/** With one `ipvs-proxier run` in the network namespace of each node. */
export interface LabCluster extends Cluster {
  readonly control: ClusterControl;
  stop(): Promise<ReadonlyMap<string, Exit>>;
}

export interface ClusterOptions {
  readonly mode: FamilyMode;
  readonly folder: string;
  readonly patienceMs: number;
  /** The main file of the program under test. */
  readonly program: string;
}

const POD_RANGES: Readonly<Record<Family, string>> = { IPv4: '10.180.0.0/16', IPv6: 'fd00:180::/32' };

/** On this node UDP flows end soon, and so do affinities. */
export const HASTY_NODE = 'node-c';
const HASTY_FLAGS = ['--ipvs-udp-timeout', '1s'];

/** A pass that runs has ten seconds of the program's own; a busy machine needs more to end the rest. */
const STOP_PATIENCE_MS = 60_000;

/** Resolves when every daemon has made its first pass. */
export async function startCluster({ mode, folder, patienceMs, program }: ClusterOptions): Promise<LabCluster> {
  mkdirSync(folder, { recursive: true });
  const lab = await buildLab(planOf(mode));
  const binaries = findBinaries(process.env);
  const controlPlane = await (binaries ? startRealControlPlane(binaries, mode, folder) : startFixture(mode));
  const traffic = startTraffic();
  const api = createApiClient(controlPlane.access);
  const families = FAMILIES_OF[mode];
  for (const host of lab.nodes) {
    const addresses = families.map((family) => host.addresses[family]);
    const object = nodeObject(host.name, addresses, host.zone, rangesOf(families, podRanges(host)));
    await api.create('/api/v1/nodes', { ...object, status: {} });
    await api.patch(`/api/v1/nodes/${host.name}/status`, { status: object.status });
  }
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, controlPlane.kubeconfig(), { mode: 0o600 });

  const daemons = new Map<string, Daemon>();
  let starts = 0;
  const startProxier: ClusterControl['startProxier'] = (name, flags = []) => {
    starts += 1;
    const args = [program, 'run', ...flagsOf(name, kubeconfig, families), ...flags];
    const daemon = lab.spawn(name, process.execPath, args, { logFile: join(folder, `${name}-${starts}.log`) });
    daemons.set(name, daemon);
    return daemon;
  };
  const proxier: ClusterControl['proxier'] = (name) => {
    const daemon = daemons.get(name);
    if (daemon === undefined) throw new Error(`${name} has no daemon`);
    return daemon;
  };
  const stop: LabCluster['stop'] = async () => {
    const exits = await Promise.all(
      [...daemons].map(async ([name, daemon]): Promise<[string, Exit]> => [name, await daemon.stop(STOP_PATIENCE_MS)]),
    );
    api.close();
    await controlPlane.stop();
    await traffic.end();
    await lab.destroy();
    return new Map(exits);
  };

  for (const { name } of lab.nodes) startProxier(name);
  for (const { name } of lab.nodes) await firstPass(proxier(name), name);
  return {
    ...{ mode, families, lab, traffic, api, folder, patienceMs, stop },
    hasControllers: false,
    readLog: async (name) => proxier(name).log(),
    control: { controlPlane, proxier, startProxier },
  };
}

/** Resolves when the daemon has made its first pass. */
export async function firstPass(daemon: Daemon, node: string): Promise<void> {
  const hasPassed = (log: string) => log.includes('node programmed') || log.includes('nothing to do');
  await waitFor(`first pass of ${node}`, () => daemon.log(), hasPassed, { timeoutMs: 90_000 });
}

/** For scenarios that stop parts of the cluster. Throws where that cannot be done. */
export function controlOf({ control }: Cluster): ClusterControl {
  if (control === undefined) throw new Error('this cluster is not ours to stop');
  return control;
}

/** The limit of connection tracking can be set in the first network namespace only. */
function flagsOf(node: string, kubeconfig: string, families: readonly Family[]): readonly string[] {
  return [
    ...['--kubeconfig', kubeconfig, '--hostname-override', node],
    ...['--cluster-cidr', families.map((family) => POD_RANGES[family]).join(',')],
    // Changes have to show because they are heard of, not because everything is looked at again from time to time.
    ...['--ipvs-min-sync-period', '100ms', '--ipvs-sync-period', '10m'],
    ...['--conntrack-max-per-core', '0', '--v', '2', '--logging-format', 'text'],
    // As kind and kubeadm do in clusters of IPv6 alone; the metrics are at ::1 then.
    ...(families.includes('IPv4') ? [] : ['--bind-address', '::']),
    ...(node === HASTY_NODE ? HASTY_FLAGS : []),
  ];
}

function rangesOf(families: readonly Family[], ranges: readonly string[]): readonly string[] {
  return ranges.filter((range) => families.includes(range.includes(':') ? 'IPv6' : 'IPv4'));
}
