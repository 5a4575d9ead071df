import type { Logger } from 'pino';
import type { GivenFlags } from './cli/arguments.ts';
import { ConfigFileWatch } from './cli/config-file-watch.ts';
import type { ReadConfig } from './cli/read-config.ts';
import { formatConfigError } from './config/config-error.ts';
import type { EffectiveConfig } from './config/load.ts';
import { judgeReload } from './config/reload.ts';
import type { Clock } from './queue/clock.ts';

export interface ConfigReloadOptions {
  /** What the program runs with. */
  readonly read: ReadConfig;
  readonly flags: GivenFlags;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly setVerbosity: (verbosity: number) => void;
  /** The program has to end and start again; one line for a person. */
  readonly restart: (why: string) => void;
}

/** Follows the configuration file: takes over what can be while running, asks for a restart else, and keeps what it has where the new text is wrong. */
export class ConfigReload {
  readonly #options: ConfigReloadOptions;
  readonly #watch: ConfigFileWatch | undefined;
  #running: EffectiveConfig;
  #isRefused = false;

  constructor(options: ConfigReloadOptions) {
    const { read, clock, log } = options;
    this.#options = options;
    this.#running = read;
    this.#watch =
      read.file &&
      new ConfigFileWatch({
        file: read.file,
        clock,
        changed: (text) => this.#take(text),
        readable: () => log.info({ file: read.file?.name }, 'the configuration file can be read again'),
        trouble: (err) => log.warn({ file: read.file?.name, err }, 'the configuration in force stays'),
      });
  }

  /** Without a file there is nothing to follow. */
  start(): void {
    this.#watch?.start();
  }

  async stop(): Promise<void> {
    await this.#watch?.stop();
  }

  #take(text: string): void {
    const { read, flags, log, setVerbosity, restart } = this.#options;
    const file = read.file?.name ?? '';
    const judged = judgeReload(this.#running, { name: file, text }, flags);
    const wasRefused = this.#isRefused;
    this.#isRefused = judged.kind === 'invalid';
    switch (judged.kind) {
      case 'invalid':
        log.error(
          { err: judged.errors.map(formatConfigError).join('; ') },
          'the changed configuration is wrong; the one in force stays',
        );
        break;
      case 'same':
        if (wasRefused) log.info({ file }, 'the configuration is right again, and as the one in force');
        break;
      case 'live':
        this.#running = judged.config;
        setVerbosity(judged.config.config.logging.verbosity);
        log.info({ file, changes: judged.changes }, 'the changed configuration is in force');
        break;
      case 'restart':
        restart(`the configuration has changed: ${judged.changes.join(', ')}`);
        break;
    }
  }
}
