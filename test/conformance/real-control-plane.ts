import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificates } from '../apiserver/certificates.ts';
import { kubeconfigText } from '../apiserver/kubeconfig.ts';
import { type Daemon, startDaemon } from '../lab/daemon.ts';
import { waitFor } from '../lab/wait-for.ts';
import { createApiClient } from './api-client.ts';
import { API_ADDRESS, type ControlPlane } from './control-plane.ts';
import type { FamilyMode } from './plan.ts';
import { type ControlPlaneBinaries, requireBinaries } from './real-binaries.ts';

const ETCD_URL = 'http://127.0.0.1:2379';
const PORT = 6443;
const TOKEN = 'conformance';
const PATIENCE = { timeoutMs: 180_000, everyMs: 500 };
const SERVICE_RANGES: Readonly<Record<FamilyMode, string>> = {
  ipv4: '10.96.0.0/16',
  ipv6: 'fd00:96::/112',
  dual: '10.96.0.0/16,fd00:96::/112',
};

/** etcd and kube-apiserver as processes of the lab, without controllers. Their logs and files go into `folder`. */
export async function startRealControlPlane(
  binaries: ControlPlaneBinaries,
  mode: FamilyMode,
  folder: string,
): Promise<ControlPlane> {
  requireBinaries(binaries);
  const address = API_ADDRESS[mode];
  const files = join(folder, 'control-plane');
  mkdirSync(files, { recursive: true });
  const { ca, cert, key } = await makeCertificates([address]);
  const write = (name: string, text: string): string => {
    const path = join(files, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const keyFile = write('server.key', key);
  const apiFlags = [
    `--etcd-servers=${ETCD_URL}`,
    `--bind-address=${address.includes(':') ? '::' : '0.0.0.0'}`,
    `--advertise-address=${address}`,
    `--secure-port=${PORT}`,
    `--tls-cert-file=${write('server.crt', cert)}`,
    `--tls-private-key-file=${keyFile}`,
    `--service-cluster-ip-range=${SERVICE_RANGES[mode]}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${keyFile}`,
    `--service-account-signing-key-file=${keyFile}`,
    `--token-auth-file=${write('tokens.csv', `${TOKEN},admin,admin,"system:masters"\n`)}`,
    '--authorization-mode=AlwaysAllow',
    '--disable-admission-plugins=ServiceAccount',
  ];
  const etcd = startDaemon(
    binaries.etcd,
    [
      `--data-dir=${join(files, 'etcd')}`,
      `--listen-client-urls=${ETCD_URL}`,
      `--advertise-client-urls=${ETCD_URL}`,
      '--listen-peer-urls=http://127.0.0.1:2380',
      '--unsafe-no-fsync',
    ],
    { logFile: join(files, 'etcd.log') },
  );
  const url = `https://${address.includes(':') ? `[${address}]` : address}:${PORT}`;
  const access = { url, ca, token: TOKEN };
  const client = createApiClient(() => access);

  let starts = 0;
  const startApiServer = async (): Promise<Daemon> => {
    starts += 1;
    const daemon = startDaemon(binaries.apiServer, apiFlags, { logFile: join(files, `kube-apiserver-${starts}.log`) });
    const isThere = (namespace: unknown) => namespace !== undefined;
    await waitFor('kube-apiserver', () => client.find('/api/v1/namespaces/default'), isThere, PATIENCE);
    return daemon;
  };
  let apiServer = await startApiServer();
  return {
    name: 'kube-apiserver and etcd',
    access: () => access,
    kubeconfig: () => kubeconfigText({ server: url, ca, token: TOKEN }),
    goAway: async () => {
      await apiServer.stop();
    },
    comeBack: async () => {
      apiServer = await startApiServer();
    },
    stop: async () => {
      client.close();
      await apiServer.stop();
      await etcd.stop();
    },
  };
}
