import { dirname, isAbsolute, resolve } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { z } from 'zod';

/** A server and who asks it, in the client library's words. */
export interface Login {
  readonly cluster: Cluster;
  readonly user: LoginUser;
  /** What credential plugins are told besides. */
  readonly extension: unknown;
}

export interface LoginUser extends User {
  /** Absolute; what is in it is the token. */
  readonly tokenFile?: string | undefined;
  /** What else the server is to take the user for; `impersonateUser` is there then. */
  readonly impersonateUid?: string | undefined;
  readonly impersonateGroups?: readonly string[] | undefined;
  readonly impersonateExtra?: Readonly<Record<string, readonly string[]>> | undefined;
}

const Text = z
  .union([z.string(), z.number(), z.boolean()])
  .transform(String)
  .nullish()
  .transform((text) => (text === '' || text === null ? undefined : text));

const Kubeconfig = z.object({
  'current-context': Text,
  contexts: z.array(z.object({ name: Text, context: z.object({ cluster: Text, user: Text }).nullish() })).nullish(),
  clusters: z.array(z.object({ name: Text, cluster: z.unknown().optional() })).nullish(),
  users: z.array(z.object({ name: Text, user: z.unknown().optional() })).nullish(),
});

const RawCluster = z.object({
  server: z.string().min(1),
  'certificate-authority': Text,
  'certificate-authority-data': Text,
  'insecure-skip-tls-verify': z.unknown().optional(),
  'tls-server-name': Text,
  'proxy-url': Text,
  extensions: z.array(z.object({ name: Text, extension: z.unknown().optional() })).nullish(),
});

const RawUser = z.object({
  'client-certificate': Text,
  'client-certificate-data': Text,
  'client-key': Text,
  'client-key-data': Text,
  token: Text,
  tokenFile: Text,
  username: Text,
  password: Text,
  as: Text,
  'as-uid': Text,
  'as-groups': z.array(z.string()).nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string()).nullish()).nullish(),
  exec: z.unknown().optional(),
  'auth-provider': z.unknown().optional(),
});

/**
 * What the current context of a kubeconfig names; undefined when it names no cluster that is there. `master`, unless it is `''`, stands in for
 * the server, and needs no cluster, nor a current context. Throws when the text is none. `path` is that of the file, whose folder others are
 * named from. A token file counts before a token; merge keys are followed. Source: k8s.io/client-go tools/clientcmd client_config.go, api/v1 types.go
 */
export function parseKubeconfig(text: string, path: string, master = ''): Login | undefined {
  const config = check(Kubeconfig, parse(text, { merge: true }) ?? {}, 'it');
  const current = config['current-context'];
  const named = config.contexts?.find(({ name }) => name !== undefined && name === current);
  const { cluster: clusterName, user: userName } = named?.context ?? {};
  const cluster = clusterName ? config.clusters?.find(({ name }) => name === clusterName) : undefined;
  const isNamed = cluster !== undefined || (master !== '' && (named !== undefined || current === undefined));
  if (!isNamed) return undefined;
  const user = userName ? config.users?.find(({ name }) => name === userName) : undefined;
  const fields = master === '' ? cluster?.cluster : Object.assign({}, cluster?.cluster, { server: master });
  const raw = check(RawCluster, fields, `cluster ${clusterName}`);
  return {
    cluster: clusterOf(clusterName ?? 'master', raw, path),
    user: userOf(userName ?? '', check(RawUser, user?.user ?? {}, `user ${userName}`), path),
    extension: raw.extensions?.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension,
  };
}

function clusterOf(name: string, raw: z.infer<typeof RawCluster>, path: string): Cluster {
  const { server, 'certificate-authority-data': caData, 'tls-server-name': tlsServerName, 'proxy-url': proxyUrl } = raw;
  const caFile = absolute(raw['certificate-authority'], path);
  return {
    name,
    server,
    skipTLSVerify: raw['insecure-skip-tls-verify'] === true,
    ...defined({ caData, caFile, tlsServerName, proxyUrl }),
  };
}

function userOf(name: string, raw: z.infer<typeof RawUser>, path: string): LoginUser {
  const groups = raw['as-groups'] ?? [];
  const extra = Object.entries(raw['as-user-extra'] ?? {}).map(([key, values]) => [key, values ?? []] as const);
  const isOther = raw['as-uid'] !== undefined || groups.length > 0 || extra.length > 0;
  if (isOther && raw.as === undefined) {
    throw new Error(`user ${name} has as-uid, as-groups or as-user-extra, and no as: whom they belong to`);
  }
  const tokenFile = absolute(raw.tokenFile, path);
  return {
    name,
    ...defined({
      certData: raw['client-certificate-data'],
      certFile: absolute(raw['client-certificate'], path),
      keyData: raw['client-key-data'],
      keyFile: absolute(raw['client-key'], path),
      token: tokenFile === undefined ? raw.token : undefined,
      tokenFile,
      username: raw.username,
      password: raw.password,
      impersonateUser: raw.as,
      impersonateUid: raw['as-uid'],
      impersonateGroups: groups.length > 0 ? groups : undefined,
      impersonateExtra: extra.length > 0 ? Object.fromEntries(extra) : undefined,
      exec: raw.exec ?? undefined,
      authProvider: raw['auth-provider'] ?? undefined,
    }),
  };
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** That of the pod; undefined outside of one. Source: k8s.io/client-go rest InClusterConfig */
export function serviceAccount({
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port,
}: NodeJS.ProcessEnv): Login | undefined {
  if (!host || !port) return undefined;
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    cluster: { name: 'in-cluster', server, skipTLSVerify: false, caFile: `${SERVICE_ACCOUNT}/ca.crt` },
    user: { name: 'service account', tokenFile: `${SERVICE_ACCOUNT}/token` },
    extension: undefined,
  };
}

function absolute(file: string | undefined, path: string): string | undefined {
  return file === undefined || isAbsolute(file) ? file : resolve(dirname(path), file);
}

function check<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(`${what} is not as in a kubeconfig: ${z.prettifyError(parsed.error).replace(/\s+/g, ' ')}`);
}

/** Without the fields that are undefined. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
