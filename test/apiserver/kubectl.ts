import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ApiServer } from './server.ts';

/** kubectl, pointed at one server. Its files go when {@link remove} is called. */
export class Kubectl {
  readonly #directory = mkdtempSync(join(tmpdir(), 'kubectl-'));

  constructor(api: ApiServer) {
    writeFileSync(this.#kubeconfig, api.kubeconfig(), { mode: 0o600 });
  }

  /** Runs a command with `input` on stdin and returns its output; rejects with stderr when it fails. */
  async run(args: readonly string[], input = ''): Promise<string> {
    const running = promisify(execFile)('kubectl', [...this.#options, ...args], { env: this.#env });
    running.child.stdin?.end(input);
    const { stdout } = await running;
    return stdout;
  }

  /** Runs a command until its output holds `wanted`, then ends it; resolves with what was printed. */
  runUntil(args: readonly string[], wanted: string): Promise<string> {
    const child = spawn('kubectl', [...this.#options, ...args], { env: this.#env });
    let printed = '';
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', () => resolve(printed));
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (printed.includes(wanted)) child.kill();
      });
    });
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true });
  }

  get #kubeconfig(): string {
    return join(this.#directory, 'kubeconfig');
  }

  get #options(): readonly string[] {
    return ['--kubeconfig', this.#kubeconfig, '--cache-dir', join(this.#directory, 'cache')];
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, HOME: this.#directory, KUBECONFIG: '' };
  }
}

/** A test that needs kubectl. Where there is none it says so in a line `NOT RUN <test>: <reason>` on stderr. */
export function itWithKubectl(name: string, run: () => Promise<void>): void {
  it(name, async function () {
    if (await isKubectlThere()) await run();
    else process.stderr.write(`NOT RUN ${this.test?.fullTitle()}: could not run: kubectl not found\n`);
  });
}

async function isKubectlThere(): Promise<boolean> {
  try {
    await promisify(execFile)('kubectl', ['version', '--client']);
    return true;
  } catch {
    return false;
  }
}
