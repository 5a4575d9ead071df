import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Cluster, KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { fail, type Result, succeed } from '../model/result.ts';
import { ExecPlugin } from './exec-plugin.ts';

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

/** A server and the material to talk to it, as the client library keeps them. */
export interface LoadedConfig {
  readonly config: KubeConfig;
  /** URL without a slash at the end. */
  readonly server: string;
  /** Without a slash at the end, and with the same scheme. */
  readonly otherServers: readonly string[];
  /** Changes when the kubeconfig's text does. */
  readonly text: string;
  /** What hands out the credentials of the user, besides those in the file. */
  readonly plugin: ExecPlugin | undefined;
}

/**
 * Reads the kubeconfig; without one, and without `master`, the service account of the pod. `tokenFile`, which the client library does
 * not know, and servers without TLS work as with kubectl. Source: k8s.io/client-go tools/clientcmd BuildConfigFromFlags
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
    const config = kubeconfig === '' ? configWithoutFile(master) : configFromText(text, dirname(resolve(kubeconfig)));
    const exec = config?.getCurrentUser()?.exec;
    const cluster = config?.getCurrentCluster();
    if (!config || !cluster) return fail({ kind: 'kubeconfig-unusable', source, message: missingServer(kubeconfig) });
    const ca = cluster.caData ?? cluster.caFile;
    const server = serverUrl(master === '' ? cluster.server : master, ca);
    const others = otherServers.map((other) => serverUrl(other, ca));
    const odd = others.find((other) => new URL(other).protocol !== new URL(server).protocol);
    if (odd) return fail({ kind: 'kubeconfig-unusable', source, message: `${odd} has another scheme than ${server}` });
    // The library asks for skipTLSVerify where there is no TLS to verify.
    const skipTLSVerify = cluster.skipTLSVerify || server.startsWith('http:');
    config.clusters = config.clusters.map((each) =>
      each.name === cluster.name ? { ...each, server, skipTLSVerify } : each,
    );
    const plugin = exec
      ? new ExecPlugin(exec, kubeconfig, () => clusterInfo({ ...cluster, server, skipTLSVerify }, text))
      : undefined;
    // The library would run it without an end, and without what it is to know.
    config.users = config.users.map(({ exec: _, ...user }) => user);
    return succeed({ config, server, otherServers: others, text, plugin });
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

/** What a plugin is told of the cluster; its extension is the only part that the library does not keep. */
function clusterInfo({ name, server, tlsServerName, skipTLSVerify, caData, caFile, proxyUrl }: Cluster, text: string) {
  const raw: { readonly clusters?: readonly RawCluster[] | null } | null = parse(text);
  const extensions = raw?.clusters?.find((each) => each.name === name)?.cluster?.extensions ?? [];
  const authority = caData ?? (caFile ? readFileSync(caFile).toString('base64') : undefined);
  return {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': skipTLSVerify || undefined,
    'certificate-authority-data': authority,
    'proxy-url': proxyUrl,
    config: extensions.find((each) => each.name === 'client.authentication.k8s.io/exec')?.extension,
  };
}

interface RawCluster {
  readonly name?: string;
  readonly cluster?: {
    readonly extensions?: readonly { readonly name?: string; readonly extension?: unknown }[] | null;
  } | null;
}

function missingServer(kubeconfig: string): string {
  return kubeconfig === ''
    ? 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, and neither kubeconfig nor master is given'
    : 'it has no current context with a cluster';
}

function configWithoutFile(master: string): KubeConfig | undefined {
  const config = new KubeConfig();
  const { KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT } = process.env;
  if (master !== '')
    config.loadFromClusterAndUser({ name: 'master', server: master, skipTLSVerify: false }, { name: 'none' });
  else if (KUBERNETES_SERVICE_HOST && KUBERNETES_SERVICE_PORT) config.loadFromCluster();
  else return undefined;
  return config;
}

interface RawUser {
  readonly name?: string;
  readonly user?: { readonly tokenFile?: string } | null;
}

function configFromText(text: string, directory: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(text);
  config.makePathsAbsolute(directory);
  const raw: { readonly users?: readonly RawUser[] | null } | null = parse(text);
  for (const { name, user } of raw?.users ?? []) {
    if (user?.tokenFile) useTokenFile(config, name, resolve(directory, user.tokenFile));
  }
  return config;
}

function useTokenFile(config: KubeConfig, name: string | undefined, tokenFile: string): void {
  config.users = config.users.map((user) => {
    if (user.name !== name) return user;
    const { token: _, ...others } = user;
    return { ...others, authProvider: { name: 'tokenFile', config: { tokenFile } } };
  });
}

function serverUrl(server: string, ca: string | undefined): string {
  const withScheme = /^https?:\/\//.test(server) ? server : `${ca ? 'https' : 'http'}://${server}`;
  return new URL(withScheme).href.replace(/\/$/, '');
}
