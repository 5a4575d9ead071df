import { type DestinationStream, destination, type Logger, type LoggerOptions, pino } from 'pino';
import pretty from 'pino-pretty';

export interface LogSettings {
  /** `text` is for people, `json` has one object a line; `undefined` = text on a terminal, json elsewhere. */
  readonly format: 'text' | 'json' | undefined;
  /** kube-proxy's `--v`: 2 and more tell of every change, 4 and more of every endpoint. */
  readonly verbosity: number;
}

/** Logs to stderr, one line for each call. Lines are written before the call returns, so that none is lost when the process ends. */
export function createLogger({ format, verbosity }: LogSettings): Logger {
  const options: LoggerOptions = {
    level: levelOf(verbosity),
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
  };
  const isJson = chooseFormat(format, process.stderr) === 'json';
  return pino(options, isJson ? jsonStderr() : prettyStderr());
}

/** What was asked for; else what suits those who read the stream, people at a terminal or programs. */
export function chooseFormat(asked: LogSettings['format'], { isTTY }: { readonly isTTY?: boolean }): 'text' | 'json' {
  return asked ?? (isTTY ? 'text' : 'json');
}

/** Gives what changes the verbosity of this logger and of every child that it has from now on. */
export function verbositySetter(log: Logger): (verbosity: number) => void {
  const loggers = [log];
  log.onChild = (child) => loggers.push(child as Logger);
  return (verbosity) => {
    for (const each of loggers) each.level = levelOf(verbosity);
  };
}

function levelOf(verbosity: number): 'trace' | 'debug' | 'info' {
  if (verbosity >= 4) return 'trace';
  return verbosity >= 2 ? 'debug' : 'info';
}

const STDERR = 2;
/** So much is kept while it cannot be written. */
const UNWRITTEN_LIMIT_BYTES = 1024 * 1024;

/** A disk that is full, as any failure to write, costs lines and not the daemon. */
function jsonStderr(): DestinationStream {
  return destination({ dest: STDERR, sync: true, maxLength: UNWRITTEN_LIMIT_BYTES }).on('error', () => {});
}

function prettyStderr(): DestinationStream {
  return pretty({
    destination: STDERR,
    sync: true,
    colorize: process.stderr.isTTY,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    ignore: 'part,err',
    messageFormat: textOf,
  });
}

/** `[sync] pass failed and will be tried again: ipset is not installed`; one line, whatever is in it. */
export function textOf({ part, msg, err }: Readonly<Record<string, unknown>>): string {
  const error = typeof err === 'object' ? JSON.stringify(err) : err;
  const text = `${part === undefined ? '' : `[${part}] `}${msg}${error === undefined ? '' : `: ${error}`}`;
  return text.trimEnd().replace(/\s*\n\s*/g, ' ');
}
