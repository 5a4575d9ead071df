import { Agent as HttpAgent, validateHeaderValue } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../queue/clock.ts';
import { type ConnectionSettings, type LoadedConfig, loadKubeConfig, readKubeconfig } from './client-config.ts';
import { ServerChoice } from './client-servers.ts';
import { type LoginOptions, loginOptions } from './login-options.ts';
import { askInBrackets } from './proxied-agent.ts';

/** What every request needs. */
export interface Connection {
  /** URL without a slash at the end. */
  readonly server: string;
  readonly agent: HttpAgent;
  /** One that comes several times has a list. */
  readonly headers: Readonly<Record<string, string | string[]>>;
}

/** How old credentials may be before they are read again. */
const maxAgeMs = 60_000;
/** How long reading them may take, plugins included. It is less than a request may be silent, so that the reason is told. */
const readLimitMs = 25_000;

/**
 * Keeps one agent, whose connections all requests share, and the credentials: tokens, certificates and the kubeconfig itself are read
 * again once a minute, and after {@link expire} and {@link unreachable}. A new agent is made only when the TLS material changed. What
 * cannot be read keeps its last state.
 */
export class Credentials {
  readonly #settings: ConnectionSettings;
  readonly #clock: Clock;
  #loaded: LoadedConfig;
  readonly #servers: ServerChoice;
  #connection: Connection | undefined;
  #tls: AgentOptions | undefined;
  #protocol: string | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #rejected = false;
  #reading: Promise<Connection> | undefined;
  #readingText: Promise<string | undefined> | undefined;
  readonly #closing = new AbortController();

  constructor(settings: ConnectionSettings, loaded: LoadedConfig, clock: Clock) {
    this.#settings = settings;
    this.#loaded = loaded;
    this.#clock = clock;
    this.#servers = new ServerChoice(loaded.otherServers);
  }

  /** URL of the server in use, known before any credentials are. */
  get server(): string {
    return this.#servers.current(this.#loaded.server);
  }

  /** Current credentials; rejects when they cannot be read and never could. */
  async connection(): Promise<Connection> {
    const fresh = this.#clock.nowMs() - this.#readAtMs < maxAgeMs && !this.#rejected;
    if (this.#connection && fresh) return { ...this.#connection, server: this.server };
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Tells that the server did not accept the credentials, so that the next request gets new ones. */
  expire(): void {
    this.#rejected = true;
  }

  /** Reads files anew for the next request; what plugins handed out is kept. */
  refresh(): void {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Tells that this server gives no answer, or none that counts: another one is used, and none of the connections kept open. */
  unreachable(server: string): void {
    this.#servers.failed(server);
    if (this.#connection) closeFree(this.#connection.agent);
    this.refresh();
  }

  /** Breaks all connections, and stops a plugin that runs. */
  close(): void {
    this.#closing.abort();
    this.#connection?.agent.destroy();
  }

  async #read(): Promise<Connection> {
    try {
      const options = await this.#readOptions();
      const connection = { server: this.server, agent: this.#agentFor(options), headers: headersOf(options) };
      this.#connection = connection;
      return connection;
    } catch (error) {
      if (this.#connection === undefined) throw error;
      return { ...this.#connection, server: this.server };
    } finally {
      this.#readAtMs = this.#clock.nowMs();
      this.#rejected = false;
    }
  }

  /** Rejects when it takes too long, or when nobody wants them any more. */
  async #readOptions(): Promise<LoginOptions> {
    const stopping = new AbortController();
    const ended = Promise.withResolvers<never>();
    const stop = (why: string) => {
      ended.reject(new Error(why));
      stopping.abort();
    };
    const { kubeconfig } = this.#settings;
    const what = () => (this.#loaded.plugin ? `plugin ${this.#loaded.plugin.command}` : 'reading them');
    const close = () => stop(`${what()} was stopped`);
    const cancel = this.#clock.after(readLimitMs, () =>
      stop(`${what()} did not end within ${readLimitMs / 1000} s and was stopped`),
    );
    const readAll = async () => {
      this.#reload(kubeconfig === '' ? '' : await this.#readText());
      return applyAll(this.#loaded, stopping.signal);
    };
    this.#closing.signal.addEventListener('abort', close);
    try {
      return await Promise.race([readAll(), ended.promise]);
    } finally {
      cancel();
      this.#closing.signal.removeEventListener('abort', close);
    }
  }

  /** A file that does not come is not asked for once more meanwhile. */
  #readText(): Promise<string | undefined> {
    this.#readingText ??= readKubeconfig(this.#settings.kubeconfig).finally(() => {
      this.#readingText = undefined;
    });
    return this.#readingText;
  }

  /** A kubeconfig with the same text is kept, and with it what its plugins handed out, unless that was rejected. */
  #reload(text: string | undefined): void {
    if (text === undefined || (text === this.#loaded.text && !this.#rejected)) return;
    const loaded = loadKubeConfig({ ...this.#settings, text });
    if (loaded.ok) this.#loaded = loaded.value;
  }

  #agentFor(options: RequestOptions): HttpAgent {
    const { ca, cert, key, passphrase, servername, rejectUnauthorized } = options as AgentOptions;
    const tls = { ca, cert, key, passphrase, servername, rejectUnauthorized } as AgentOptions;
    const current = this.#connection;
    const { protocol } = new URL(this.#loaded.server);
    if (current?.agent && isDeepStrictEqual([protocol, tls], [this.#protocol, this.#tls])) return current.agent;
    this.#tls = tls;
    this.#protocol = protocol;
    if (current) retire(current.agent);
    const { proxyUrl } = this.#loaded.login.cluster;
    if (proxyUrl && options.agent instanceof HttpAgent) return proxiedAgent(options.agent, proxyUrl, servername);
    const keepAlive = { keepAlive: true, keepAliveMsecs: 30_000 };
    return protocol === 'https:'
      ? new HttpsAgent({ ...tls, ...identityOf(servername), ...keepAlive })
      : new HttpAgent(keepAlive);
  }
}

async function applyAll({ login, plugin, library }: LoadedConfig, signal: AbortSignal): Promise<LoginOptions> {
  const { token, clientCertificateData: cert, clientKeyData: key } = (await plugin?.credentials(signal)) ?? {};
  const certificate = cert ? { cert, key } : undefined;
  const options = library ? await library.options(certificate) : { ...loginOptions(login), ...certificate };
  if (token) options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
  return options;
}

/** The agent that the library has made for a proxy, with what it lacks. */
function proxiedAgent(agent: HttpAgent, proxyUrl: string, servername: string | undefined): HttpAgent {
  if (agent instanceof HttpsAgent) Object.assign(agent.options, identityOf(servername));
  return /^https?:/.test(proxyUrl) ? askInBrackets(agent) : agent;
}

/** An address cannot be sent as the server's name, but the certificate may have it. Source: crypto/tls Config.ServerName */
function identityOf(servername: string | undefined): AgentOptions {
  if (servername === undefined || isIP(servername) === 0) return {};
  return { servername: '', checkServerIdentity: (_, certificate) => checkServerIdentity(servername, certificate) };
}

/** Requests under way end in peace; their connections are not used again. */
function retire(agent: HttpAgent): void {
  agent.maxFreeSockets = 0;
  closeFree(agent);
}

function closeFree(agent: HttpAgent): void {
  for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
}

/** Throws when a token has characters that no header may have. */
function headersOf({ headers, auth }: LoginOptions): Connection['headers'] {
  const basic = auth ? { Authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  const given = Object.entries(headers ?? {}).map(
    ([name, value]) => [name, Array.isArray(value) ? value.map((each) => each.trim()) : String(value).trim()] as const,
  );
  for (const [name, value] of given) for (const each of [value].flat()) validateHeaderValue(name, each);
  return { ...basic, ...Object.fromEntries(given) };
}
