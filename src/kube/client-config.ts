import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fail, type Result, succeed } from '../model/result.ts';
import { environmentProxy } from './environment-proxy.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { type Login, parseKubeconfig, serviceAccount } from './kubeconfig.ts';
import { isAnonymous, LibraryLogin } from './login-options.ts';

/** Where the API server and the credentials for it are found. */
export interface ConnectionSettings {
  /** Path of a kubeconfig; `''` for none. */
  readonly kubeconfig: string;
  /** What it says, where it was read before. */
  readonly text?: string | undefined;
  /** URL that replaces the kubeconfig's server; `''` for none. */
  readonly master: string;
  /** URLs of the same API server that are used when that one does not answer; the same credentials and authority hold for them. */
  readonly otherServers?: readonly string[];
}

/** The settings do not lead to a server. */
export interface KubeconfigError {
  readonly kind: 'kubeconfig-unusable';
  /** Path of the kubeconfig, or `in-cluster`. */
  readonly source: string;
  readonly message: string;
}

/** A server and the material to talk to it. */
export interface LoadedConfig {
  readonly login: Login;
  /** URL without a slash at the end. */
  readonly server: string;
  /** Without a slash at the end, and with the same scheme. */
  readonly otherServers: readonly string[];
  /** Changes when the kubeconfig's text does. */
  readonly text: string;
  /** There are no credentials at all. */
  readonly isAnonymous: boolean;
  /** What hands out the credentials of the user, besides those in the file. */
  readonly plugin: ExecPlugin | undefined;
  /** What is asked for the credentials in place of the login itself. */
  readonly library: LibraryLogin | undefined;
}

/**
 * Reads the kubeconfig; without one, and without `master`, the service account of the pod. Servers without TLS work as with kubectl. A proxy
 * that the environment names counts where the kubeconfig has none; `otherServers` are asked through the same.
 * Source: k8s.io/client-go tools/clientcmd BuildConfigFromFlags
 */
export function loadKubeConfig({
  kubeconfig,
  text: given,
  master,
  otherServers = [],
}: ConnectionSettings): Result<LoadedConfig, KubeconfigError> {
  const source = kubeconfig === '' ? 'in-cluster' : kubeconfig;
  try {
    const text = kubeconfig === '' ? '' : (given ?? readFileSync(kubeconfig, 'utf8'));
    const read = kubeconfig === '' ? loginWithoutFile(master) : parseKubeconfig(text, kubeconfig, master);
    if (!read) return fail({ kind: 'kubeconfig-unusable', source, message: missingServer(kubeconfig) });
    const ca = read.cluster.caData ?? read.cluster.caFile;
    const server = serverUrl(read.cluster.server, ca);
    const others = otherServers.map((other) => serverUrl(other, ca));
    const odd = others.find((other) => new URL(other).protocol !== new URL(server).protocol);
    if (odd) return fail({ kind: 'kubeconfig-unusable', source, message: `${odd} has another scheme than ${server}` });
    // The library asks for skipTLSVerify where there is no TLS to verify.
    const skipTLSVerify = read.cluster.skipTLSVerify || server.startsWith('http:');
    const named = { ...read, cluster: { ...read.cluster, server, skipTLSVerify } };
    const { exec } = named.user;
    const plugin = exec ? new ExecPlugin(exec, kubeconfig, () => clusterInfo(named)) : undefined;
    const proxyUrl = named.cluster.proxyUrl ?? environmentProxy(server, process.env);
    const login = proxyUrl === undefined ? named : { ...named, cluster: { ...named.cluster, proxyUrl } };
    const library = LibraryLogin.isNeeded(login) ? new LibraryLogin(login) : undefined;
    return succeed({ login, server, otherServers: others, text, isAnonymous: isAnonymous(login), plugin, library });
  } catch (error) {
    return fail({
      kind: 'kubeconfig-unusable',
      source,
      message: error instanceof Error ? error.message : String(error),
    });
  }
}

/** The text of a kubeconfig, without holding up anything else however long that takes; `undefined` when it cannot be read, or there is none. */
export async function readKubeconfig(kubeconfig: string): Promise<string | undefined> {
  return kubeconfig === '' ? undefined : readFile(kubeconfig, 'utf8').catch(() => undefined);
}

/** What a plugin is told of the cluster. */
function clusterInfo({ cluster, extension }: Login) {
  const { server, tlsServerName, skipTLSVerify, caData, caFile, proxyUrl } = cluster;
  const authority = caData ?? (caFile ? readFileSync(caFile).toString('base64') : undefined);
  return {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': skipTLSVerify || undefined,
    'certificate-authority-data': authority,
    'proxy-url': proxyUrl,
    config: extension,
  };
}

function missingServer(kubeconfig: string): string {
  return kubeconfig === ''
    ? 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, and neither kubeconfig nor master is given'
    : 'it has no current context with a cluster';
}

function loginWithoutFile(master: string): Login | undefined {
  if (master === '') return serviceAccount(process.env);
  return {
    cluster: { name: 'master', server: master, skipTLSVerify: false },
    user: { name: 'none' },
    extension: undefined,
  };
}

function serverUrl(server: string, ca: string | undefined): string {
  const withScheme = server.includes('://') ? server : `${ca ? 'https' : 'http'}://${server}`;
  const { protocol, href } = new URL(withScheme);
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error(`${server} is no server for HTTP`);
  return href.replace(/\/$/, '');
}
