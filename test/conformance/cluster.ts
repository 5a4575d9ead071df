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

/** The lab with an API server and one `ipvs-proxier run` in the network namespace of each node. */
export interface Cluster {
  readonly mode: FamilyMode;
  readonly families: readonly Family[];
  readonly lab: Lab;
  readonly traffic: Traffic;
  readonly api: ApiClient;
  readonly controlPlane: ControlPlane;
  /** Logs of the daemons, and what is kept of failures. */
  readonly folder: string;
  /** How long a change may take to show in traffic. */
  readonly patienceMs: number;
  proxier(node: string): Daemon;
  /** Starts the node's daemon again; the one before has ended. Its log goes into a file of its own. */
  startProxier(node: string, flags?: readonly string[]): Daemon;
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

/** Resolves when every daemon has made its first pass. */
export async function startCluster({ mode, folder, patienceMs, program }: ClusterOptions): Promise<Cluster> {
  mkdirSync(folder, { recursive: true });
  const [lab, controlPlane, traffic] = [await buildLab(planOf(mode)), await startFixture(mode), startTraffic()];
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
  const startProxier: Cluster['startProxier'] = (name, flags = []) => {
    starts += 1;
    const args = [program, 'run', ...flagsOf(name, kubeconfig, families), ...flags];
    const daemon = lab.spawn(name, process.execPath, args, { logFile: join(folder, `${name}-${starts}.log`) });
    daemons.set(name, daemon);
    return daemon;
  };
  const proxier: Cluster['proxier'] = (name) => {
    const daemon = daemons.get(name);
    if (daemon === undefined) throw new Error(`${name} has no daemon`);
    return daemon;
  };
  const stop: Cluster['stop'] = async () => {
    const exits = await Promise.all(
      [...daemons].map(async ([name, daemon]): Promise<[string, Exit]> => [name, await daemon.stop()]),
    );
    api.close();
    await controlPlane.stop();
    await traffic.end();
    await lab.destroy();
    return new Map(exits);
  };

  for (const { name } of lab.nodes) startProxier(name);
  for (const { name } of lab.nodes) await firstPass(proxier(name), name);
  return { mode, families, lab, traffic, api, controlPlane, folder, patienceMs, proxier, startProxier, stop };
}

/** Resolves when the daemon has made its first pass. */
export async function firstPass(daemon: Daemon, node: string): Promise<void> {
  const hasPassed = (log: string) => log.includes('node programmed') || log.includes('nothing to do');
  await waitFor(`first pass of ${node}`, () => daemon.log(), hasPassed, { timeoutMs: 90_000 });
}

/** The limit of connection tracking can be set in the first network namespace only. */
function flagsOf(node: string, kubeconfig: string, families: readonly Family[]): readonly string[] {
  return [
    ...['--kubeconfig', kubeconfig, '--hostname-override', node],
    ...['--cluster-cidr', families.map((family) => POD_RANGES[family]).join(',')],
    ...['--ipvs-min-sync-period', '100ms', '--conntrack-max-per-core', '0', '--v', '2'],
    ...(node === HASTY_NODE ? HASTY_FLAGS : []),
  ];
}

function rangesOf(families: readonly Family[], ranges: readonly string[]): readonly string[] {
  return ranges.filter((range) => families.includes(range.includes(':') ? 'IPv6' : 'IPv4'));
}
