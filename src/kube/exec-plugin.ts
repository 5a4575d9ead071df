import { spawn } from 'node:child_process';
import { dirname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';

/** Section `exec` of a user in a kubeconfig. Source: k8s.io/client-go tools/clientcmd/api/v1 ExecConfig */
const ExecSettings = z.object({
  apiVersion: z.string().default('client.authentication.k8s.io/v1'),
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  installHint: z.string().nullish(),
  interactiveMode: z.string().nullish(),
  provideClusterInfo: z.boolean().nullish(),
});
export type ExecSettings = z.infer<typeof ExecSettings>;

/** What a plugin prints. Source: k8s.io/client-go pkg/apis/clientauthentication/v1 ExecCredential */
const ExecCredential = z.object({
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().nullish(),
  }),
});

/** What a plugin hands out: a bearer token, a certificate with its key (PEM), or all three. */
export type PluginCredentials = z.infer<typeof ExecCredential>['status'];

/** What a plugin is told of the cluster if it wants to know. Source: k8s.io/client-go pkg/apis/clientauthentication/v1 Cluster */
export type ClusterInfo = Readonly<Record<string, unknown>>;

/** More output than this is no credential. */
const OUTPUT_LIMIT_BYTES = 1024 * 1024;

/**
 * A program that hands out credentials. What it handed out is kept until it expires, or for good if that is not told. It has no terminal, its
 * words on standard error count when it fails.
 */
export class ExecPlugin {
  readonly #settings: ExecSettings;
  readonly #command: string;
  readonly #cluster: () => ClusterInfo;
  #kept: PluginCredentials | undefined;

  /** Throws when the section is not one. `kubeconfig` is the path of the file: a command with a slash is looked for from its folder. */
  constructor(section: unknown, kubeconfig: string, cluster: () => ClusterInfo) {
    const parsed = ExecSettings.safeParse(section);
    if (!parsed.success)
      throw new Error(`section exec of the user: ${z.prettifyError(parsed.error).replace(/\s+/g, ' ')}`);
    const { command, interactiveMode } = parsed.data;
    if (interactiveMode === 'Always') throw new Error(`plugin ${command} wants a terminal, which is not there`);
    this.#settings = parsed.data;
    this.#command = command.includes('/') && !isAbsolute(command) ? resolve(dirname(kubeconfig), command) : command;
    this.#cluster = cluster;
  }

  /** As the kubeconfig names it. */
  get command(): string {
    return this.#settings.command;
  }

  /** What it handed out, or hands out now; rejects with one line that says why it does not. The program is killed when the signal is aborted. */
  async credentials(signal: AbortSignal): Promise<PluginCredentials> {
    const { expirationTimestamp } = this.#kept ?? {};
    if (this.#kept && !(expirationTimestamp && Date.parse(expirationTimestamp) <= Date.now())) return this.#kept;
    this.#kept = this.#understand(await this.#run(signal));
    return this.#kept;
  }

  #understand(output: string): PluginCredentials {
    const { status } = ExecCredential.safeParse(parseJson(output)).data ?? {};
    if (status === undefined) throw this.#failure('printed no ExecCredential with a status');
    const hasCertificate = status.clientCertificateData !== undefined && status.clientKeyData !== undefined;
    if (!status.token && !hasCertificate)
      throw this.#failure('handed out neither a token nor a certificate with its key');
    return status;
  }

  #environment(): NodeJS.ProcessEnv {
    const { apiVersion, env, provideClusterInfo } = this.#settings;
    const given = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const spec = { ...(provideClusterInfo ? { cluster: this.#cluster() } : {}), interactive: false };
    const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
    return { ...process.env, ...given, KUBERNETES_EXEC_INFO: info };
  }

  #run(signal: AbortSignal): Promise<string> {
    const { args, installHint } = this.#settings;
    return new Promise((resolve, reject) => {
      const child = spawn(this.#command, args ?? [], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: this.#environment(),
        // A group of its own, so that what it has started ends with it.
        detached: true,
      });
      const [output, words] = [new Collected(), new Collected()];
      child.stdout.on('data', (bytes: Buffer) => output.add(bytes));
      child.stderr.on('data', (bytes: Buffer) => words.add(bytes));
      const kill = () => {
        killGroup(child.pid);
        child.stdout.destroy();
        child.stderr.destroy();
        reject(this.#failure('was stopped'));
      };
      if (signal.aborted) kill();
      signal.addEventListener('abort', kill);
      child.on('error', (error: NodeJS.ErrnoException) => {
        signal.removeEventListener('abort', kill);
        const why = error.code === 'ENOENT' ? 'is not there' : `cannot be started: ${error.code ?? error.message}`;
        reject(this.#failure(installHint ? `${why}; ${installHint}` : why));
      });
      child.on('close', (code, by) => {
        signal.removeEventListener('abort', kill);
        if (code === 0) resolve(output.text());
        else reject(this.#failure((by ? `ended by ${by}` : `ended with status ${code}`) + said(words.text())));
      });
    });
  }

  #failure(what: string): Error {
    return new Error(`plugin ${this.command} ${what}`);
  }
}

/** The beginning of what a stream brings. */
class Collected {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  add(bytes: Buffer): void {
    if (this.#bytes < OUTPUT_LIMIT_BYTES) this.#chunks.push(bytes);
    this.#bytes += bytes.length;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function said(words: string): string {
  const text = words.replace(/\s+/g, ' ').trim();
  return text === '' ? ' without a word' : `: ${text.slice(0, 300)}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
