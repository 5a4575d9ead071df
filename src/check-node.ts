import { type FolderHost, systemHost } from './apply/host.ts';
import { describeLockError, readLockHolder } from './apply/node-lock.ts';
import { countCpus } from './apply/prepare-conntrack.ts';
import { askProxyMode, reachServer } from './apply/reach-server.ts';
import { readNodeFacts } from './apply/read-node-facts.ts';
import { describeToolError } from './apply/tool.ts';
import type { DoctorArguments } from './cli/arguments.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { formatRecord } from './cli/format-record.ts';
import { readConfig } from './cli/read-config.ts';
import type { Terminal } from './cli/terminal.ts';
import type { ProxyConfig } from './config/proxy-config.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { FORWARDING_SETTINGS, reversePathSetting } from './doctor/check-forwarding.ts';
import { REUSE_MODE } from './doctor/check-kernel.ts';
import { TABLE_SETTINGS } from './doctor/check-tables.ts';
import { examine } from './doctor/examine.ts';
import type { NodeFacts, Wishes } from './doctor/facts.ts';
import { countFindings, describeExamination, renderExamination } from './doctor/render-examination.ts';
import { wantedConntrack } from './kernel/sysctl/conntrack.ts';
import { wantedSysctls } from './kernel/sysctl/wanted.ts';
import { loadKubeConfig } from './kube/client-config.ts';
import { fail, type Result, succeed } from './model/result.ts';
import { systemClock } from './queue/clock.ts';

/** What is looked at. */
export interface LookedAt {
  readonly host: FolderHost;
  readonly readLockHolder: () => ReturnType<typeof readLockHolder>;
  readonly askProxyMode: typeof askProxyMode;
  readonly reachServer: typeof reachServer;
}

const THIS_MACHINE: LookedAt = {
  host: systemHost,
  readLockHolder: () => readLockHolder(systemClock),
  askProxyMode,
  reachServer,
};

/** Checks this node and prints what was found; changes nothing. */
export async function checkNode(
  args: DoctorArguments,
  terminal: Terminal,
  lookedAt: LookedAt = THIS_MACHINE,
): Promise<ExitCode> {
  const config = await readConfig(args.flags, terminal);
  if (!config) return 2;
  const read = await lookAt(lookedAt, config);
  if (!read.ok) {
    terminal.error(`error: this node cannot be looked at: ${read.error}`);
    return 1;
  }
  const examinations = examine(read.value.facts, read.value.wishes);
  const text =
    args.form === 'text' ? renderExamination(examinations) : formatRecord(describeExamination(examinations), args.form);
  await terminal.output(text);
  const { errors, warnings } = countFindings(examinations);
  return errors + warnings > 0 ? 3 : 0;
}

async function lookAt(
  lookedAt: LookedAt,
  config: ProxyConfig,
): Promise<Result<{ readonly facts: NodeFacts; readonly wishes: Wishes }, string>> {
  const { host } = lookedAt;
  const release = await host.readText('/proc/sys/kernel/osrelease');
  if (!release.ok) return fail(describeToolError(release.error));
  const kernelRelease = release.value.trim();
  const wishes = await wishesOf(config, kernelRelease, host);
  const { scheduler } = wishes;
  const paths = wishes.sysctls.map(({ path }) => path).filter((path) => !path.startsWith('/'));
  const settings = [...paths, REUSE_MODE, ...TABLE_SETTINGS, ...FORWARDING_SETTINGS];
  const settingsOf = (uplink: string) => [reversePathSetting(uplink)];
  const metricsPort = wishes.ports.find(({ server }) => server === 'metrics')?.port ?? KUBE_PROXY_PORT;
  // First and alone: its answer has a second, and the reading of a node can keep this process busy for longer.
  const holder = await lookedAt.readLockHolder();
  const [facts, proxyMode, apiServer] = await Promise.all([
    readNodeFacts(host, { kernelRelease, scheduler, settings, settingsOf }),
    lookedAt.askProxyMode(metricsPort),
    findApiServer(lookedAt, config),
  ]);
  return succeed({
    facts: { ...facts, proxier: holder.ok ? holder : fail(describeLockError(holder.error)), proxyMode, apiServer },
    wishes,
  });
}

/** Where kube-proxy has its metrics unless it is told otherwise. */
const KUBE_PROXY_PORT = 10_249;

async function wishesOf(config: ProxyConfig, kernelRelease: string, host: FolderHost): Promise<Wishes> {
  const { ipvs, conntrack, healthzBindAddress, metricsBindAddress, clusterCIDRs } = config;
  const ports = [
    ...(healthzBindAddress ? [{ server: 'health' as const, port: healthzBindAddress.port }] : []),
    ...(metricsBindAddress ? [{ server: 'metrics' as const, port: metricsBindAddress.port }] : []),
  ];
  return {
    scheduler: proxySettings(config, true).scheduler,
    unknownScheduler: config.unknownScheduler,
    connReuseMode: config.connReuseMode,
    strictArp: ipvs.strictARP,
    sysctls: [
      ...wantedSysctls(kernelRelease, ipvs.strictARP, config),
      ...wantedConntrack(conntrack, await countCpus(host)),
    ],
    ports,
    clusterCIDRs,
  };
}

/** The one that the daemon would ask, where anything says which one that is. */
async function findApiServer({ reachServer }: LookedAt, config: ProxyConfig): Promise<NodeFacts['apiServer']> {
  const { clientConnection, master = '' } = config;
  const kubeconfig = clientConnection.kubeconfig ?? '';
  const isNamed = kubeconfig !== '' || master !== '' || process.env.KUBERNETES_SERVICE_HOST !== undefined;
  if (!isNamed) return succeed(undefined);
  const loaded = loadKubeConfig({ kubeconfig, master });
  if (!loaded.ok) return fail(`${loaded.error.source}: ${loaded.error.message}`);
  const { server, isAnonymous, login } = loaded.value;
  const { proxyUrl } = login.cluster;
  if (proxyUrl !== undefined) return fail(`it is asked through the proxy ${proxyUrl.replace(/\/\/.*@/, '//')}`);
  return succeed({ ...(await reachServer(server, REACH_MS)), credentials: isAnonymous ? 'none' : 'given' });
}

const REACH_MS = 5_000;
