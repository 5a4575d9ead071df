import type { BindAddress } from '../config/bind-address.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { familyOf, formatAddressPort, type IpAddress, isUnspecified } from '../net/ip-address.ts';
import { NO_SUCH_SERVICE, type StatusAnswer } from '../observe/status.ts';
import type { GivenFlags, StatusArguments } from './arguments.ts';
import type { ExitCode } from './exit-code.ts';
import { formatRecord } from './format-record.ts';
import { readConfig } from './read-config.ts';
import { renderStatus } from './render-status.ts';
import type { Terminal } from './terminal.ts';

/** Asks the daemon of this node how it is, and prints that. */
export async function printStatus({ flags, service, form }: StatusArguments, terminal: Terminal): Promise<ExitCode> {
  const config = await readConfig(flagsThatCount(flags), terminal);
  if (!config) return 2;
  const { metricsBindAddress } = config;
  if (!metricsBindAddress) {
    terminal.error('error: the metrics server of the daemon is switched off, so it cannot be asked');
    return 1;
  }
  const detail = service ?? (form === 'text' ? undefined : 'all');
  const asked = await askDaemon(hostOf(metricsBindAddress), detail);
  if (!asked.ok) {
    terminal.error(`error: ${asked.error}`);
    return 1;
  }
  await terminal.output(form === 'text' ? renderStatus(asked.value) : formatRecord(asked.value, form));
  return 0;
}

/** Beside a file the flag would not count, and here it is there to be more exact than the file. */
function flagsThatCount({ config, ...flags }: GivenFlags): GivenFlags {
  return flags['metrics-bind-address'] === undefined ? { config } : flags;
}

/** Who listens everywhere answers on the loopback address, too. */
function hostOf({ address, port }: BindAddress): string {
  const loopback = (familyOf(address) === 'IPv4' ? '127.0.0.1' : '::1') as IpAddress;
  return formatAddressPort(isUnspecified(address) ? loopback : address, port);
}

async function askDaemon(host: string, service: string | undefined): Promise<Result<StatusAnswer, string>> {
  const query = service === undefined ? '' : `?service=${encodeURIComponent(service)}`;
  try {
    const response = await fetch(`http://${host}/status${query}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const text = await response.text();
    if (text === NO_SUCH_SERVICE) return fail(`the daemon serves no Service ${service}`);
    const answer = response.ok ? parseAnswer(text) : undefined;
    return answer ? succeed(answer) : fail(`what listens on ${host} is no ipvs-proxier, or one of an older version`);
  } catch (error) {
    return fail(`no daemon answers on ${host}: ${causeOf(error)}; give its --config or --metrics-bind-address`);
  }
}

const PATIENCE_MS = 30_000;

function parseAnswer(text: string): StatusAnswer | undefined {
  try {
    const answer = JSON.parse(text) as Partial<StatusAnswer> | null;
    return answer?.mode === 'ipvs' && answer.totals !== undefined ? (answer as StatusAnswer) : undefined;
  } catch {
    return undefined;
  }
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error & {
    readonly cause?: { readonly code?: string; readonly message?: string };
  };
  return cause?.code ?? cause?.message ?? message;
}
