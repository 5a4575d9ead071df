import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { isDeepStrictEqual } from 'node:util';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Login, LoginUser } from './kubeconfig.ts';

/** What a login adds to a request: TLS material, headers, for some a way through a proxy. */
export type LoginOptions = RequestOptions & { auth?: string };

/** Reads the files that a login names. Throws when one cannot be read, or holds no token where it should: another writer may be at it. */
export function loginOptions({ cluster, user }: Login): LoginOptions {
  const ca = material(cluster.caData, cluster.caFile);
  const cert = material(user.certData, user.certFile);
  const key = material(user.keyData, user.keyFile);
  const token = user.tokenFile ? tokenIn(user.tokenFile) : user.token;
  return {
    ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
    ...(cluster.tlsServerName ? { servername: cluster.tlsServerName } : {}),
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(user.username ? { auth: `${user.username}:${user.password ?? ''}` } : {}),
    headers: {
      ...impersonation(user),
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
    },
  };
}

/** Whether the server is told who asks. One without TLS does not ask that. */
export function isAnonymous({ cluster, user }: Login): boolean {
  const { certData, certFile, token, tokenFile, username, exec, authProvider } = user;
  const credentials = [certData, certFile, token, tokenFile, username, exec, authProvider];
  return cluster.server.startsWith('https:') && credentials.every((each) => each === undefined);
}

/** Whom the server is to take the user for. A header comes as often as it has values. Source: k8s.io/client-go transport round_trippers.go */
function impersonation({ impersonateUser, impersonateUid, impersonateGroups, impersonateExtra = {} }: LoginUser) {
  const extra = Object.entries(impersonateExtra).map(([key, values]) => [
    `Impersonate-Extra-${escapeName(key)}`,
    [...values],
  ]);
  return {
    ...(impersonateUser ? { 'Impersonate-User': impersonateUser } : {}),
    ...(impersonateUid ? { 'Impersonate-Uid': impersonateUid } : {}),
    ...(impersonateGroups ? { 'Impersonate-Group': [...impersonateGroups] } : {}),
    ...Object.fromEntries(extra),
  };
}

/** What the name of a header cannot have, and `%` itself, as `%2F`, byte for byte. */
function escapeName(key: string): string {
  return key.replace(/[^\w!#$&'*+.^`|~-]/gu, (letter) =>
    [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}

function tokenIn(file: string): string {
  const token = readFileSync(file, 'utf8').trim();
  if (token === '') throw new Error(`${file} is empty`);
  return token;
}

/** Data counts before a file. Source: k8s.io/client-go rest TLSClientConfig */
function material(data: string | undefined, file: string | undefined): Buffer | undefined {
  if (data !== undefined) return Buffer.from(data, 'base64');
  return file === undefined ? undefined : readFileSync(file);
}

/** PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string | undefined;
}

/**
 * Logins that are left to the client library: those of an auth provider, and all through a proxy. It is loaded where one is asked for alone,
 * as it takes half a second and 60 MB of memory.
 */
export class LibraryLogin {
  readonly #login: Login;
  /** It keeps the tokens that it was given, and the connections through a proxy. */
  #config: KubeConfig | undefined;
  #certificate: Certificate | undefined;

  constructor(login: Login) {
    this.#login = login;
  }

  static isNeeded({ cluster, user }: Login): boolean {
    return Boolean(user.authProvider || cluster.proxyUrl);
  }

  /** `certificate` is one that a plugin handed out; connections through a proxy have it from their beginning. */
  async options(certificate?: Certificate): Promise<LoginOptions> {
    const options: LoginOptions = {};
    if (!isDeepStrictEqual(certificate, this.#certificate)) this.#config = undefined;
    this.#certificate = certificate;
    this.#config ??= await this.#load();
    await this.#config.applyToHTTPSOptions(options);
    return { ...options, headers: { ...options.headers, ...impersonation(this.#login.user) } };
  }

  async #load(): Promise<KubeConfig> {
    const { KubeConfig } = await import('@kubernetes/client-node');
    const { cluster, user } = this.#login;
    const { exec: _, tokenFile, ...others } = user;
    const config = new KubeConfig();
    const authProvider = tokenFile ? { name: 'tokenFile', config: { tokenFile } } : user.authProvider;
    const given = this.#certificate
      ? { certData: base64(this.#certificate.cert), keyData: base64(this.#certificate.key ?? '') }
      : {};
    config.loadFromClusterAndUser(cluster, { ...others, ...given, authProvider });
    return config;
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
