import { type FSWatcher, watch } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ConfigFile } from '../config/read-documents.ts';
import type { CancelTimer, Clock } from '../queue/clock.ts';

export interface ConfigFileWatchOptions {
  /** The file with the text that is in force. */
  readonly file: ConfigFile;
  readonly clock: Clock;
  /** The file has another text than before. */
  readonly changed: (text: string) => void;
  /** The file cannot be read for now, or is looked at now and then only; called when the reason becomes another one. */
  readonly trouble: (message: string) => void;
  /** The file can be read again; called before {@link changed} where it has another text. */
  readonly readable: () => void;
}

/**
 * Looks for another text of a file: soon after something has happened in its folder, or in the folder that it is linked from, and once a
 * minute, every other second while it cannot be read. So it sees what is written in place, what is renamed over it, and the links of a mounted ConfigMap that are exchanged.
 */
export class ConfigFileWatch {
  readonly #options: ConfigFileWatchOptions;
  #text: string;
  /** What was read last and is not in force: another writer may still be at it. */
  #unsettled: string | undefined;
  #watchers: readonly FSWatcher[] = [];
  #watched = '';
  #cancelTimer: CancelTimer = () => {};
  #dueSoon = false;
  #said = '';
  #stopped = false;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: ConfigFileWatchOptions) {
    this.#options = options;
    this.#text = options.file.text;
  }

  /** What has happened since the text was read is seen too. */
  start(): void {
    this.#looking = this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    this.#unwatch();
    await this.#looking;
  }

  async #look(): Promise<void> {
    this.#dueSoon = false;
    const trouble = await this.#watchFolders();
    const text = await readText(this.#options.file.name);
    if (this.#stopped) return this.#unwatch();
    if (text.ok && this.#said.startsWith(UNREADABLE)) this.#options.readable();
    this.#say(text.ok ? trouble : text.message);
    if (text.ok) this.#judge(text.value);
    if (!this.#dueSoon && !this.#stopped) this.#plan(text.ok ? RECHECK_MS : ABSENT_MS);
  }

  /** A text counts once it was read twice in a row: a file that is written in place is empty or half there for a moment. */
  #judge(text: string): void {
    const wasRead = text === this.#unsettled;
    this.#unsettled = text === this.#text || wasRead ? undefined : text;
    if (this.#unsettled !== undefined) this.#soon();
    if (!wasRead || text === this.#text) return;
    this.#text = text;
    this.#options.changed(text);
  }

  /** Folders may become others when links do. Gives the reason where they cannot be watched. */
  async #watchFolders(): Promise<string> {
    const { name } = this.#options.file;
    const folders = [...new Set([dirname(name), dirname(await realpath(name).catch(() => name))])];
    const key = folders.join('\0');
    if (key === this.#watched) return this.#said.startsWith(SLOW) ? this.#said : '';
    this.#unwatch();
    try {
      this.#watchers = folders.map((folder) => this.#watchFolder(folder));
      this.#watched = key;
      return '';
    } catch (error) {
      this.#unwatch();
      return `${SLOW}: ${codeOf(error)}`;
    }
  }

  #watchFolder(folder: string): FSWatcher {
    return watch(folder, () => this.#soon()).on('error', () => {
      this.#unwatch();
      this.#soon();
    });
  }

  #unwatch(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
    this.#watched = '';
  }

  /** Whoever writes gets a moment to finish. */
  #soon(): void {
    if (this.#dueSoon || this.#stopped) return;
    this.#dueSoon = true;
    this.#plan(SETTLE_MS);
  }

  #plan(delayMs: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(delayMs, () => {
      this.#looking = this.#looking.then(() => this.#look());
    });
  }

  #say(trouble: string): void {
    if (trouble !== '' && trouble !== this.#said) this.#options.trouble(trouble);
    this.#said = trouble;
  }
}

const SETTLE_MS = 250;
const RECHECK_MS = 60_000;
/** The folder of what a link leads to is not known while it leads nowhere. */
const ABSENT_MS = 2000;
const SLOW = 'changes are noticed once a minute only';
const UNREADABLE = 'it cannot be read';

type Text = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly message: string };

async function readText(name: string): Promise<Text> {
  try {
    return { ok: true, value: await readFile(name, 'utf8') };
  } catch (error) {
    return { ok: false, message: `${UNREADABLE}: ${codeOf(error)}` };
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? error);
}
