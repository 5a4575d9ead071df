import { formatTime } from './health-answer.ts';

export type ZpageKind = 'Flagz' | 'Statusz';

/** What the metrics server has besides profiles. */
export const METRICS_PATHS: readonly string[] = [
  '/configz',
  '/flagz',
  '/healthz',
  '/healthz/ping',
  '/metrics',
  '/metrics/slis',
  '/proxyMode',
  '/status',
  '/statusz',
];

/** What the pages for people who debug show. */
export interface ZpageSources {
  /** Every flag with its value. */
  readonly flags: Readonly<Record<string, string>>;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly wallMs: () => number;
  readonly paths: readonly string[];
  /** Gives 0 ≤ x < 1. */
  readonly random: () => number;
}

/** The release of kube-proxy whose behaviour is followed. */
export const EMULATED_VERSION = '1.37';

/**
 * The page as text. Programs shall not read it, so what stands between names and values is chosen anew each time.
 *
 * Source: kubernetes/apiserver pkg/server/flagz, pkg/server/statusz
 */
export function zpageText(kind: ZpageKind, sources: ZpageSources): string {
  const delimiter = DELIMITERS[Math.floor(sources.random() * DELIMITERS.length)] ?? ':';
  const lines = kind === 'Flagz' ? flagLines(sources) : statusLines(sources);
  return [
    '',
    `kube-proxy ${kind.toLowerCase()}`,
    'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.',
    '',
    ...lines.map(([name, value]) => `${name}${delimiter}${value}`),
    '',
  ].join('\n');
}

const DELIMITERS = [':', ': ', '=', ' '] as const;

/** The page as an object of the API. */
export function zpageObject(kind: ZpageKind, apiVersion: string, sources: ZpageSources): object {
  const head = { kind, apiVersion, metadata: { name: 'kube-proxy' } };
  if (kind === 'Flagz') return { ...head, flags: sources.flags };
  return {
    ...head,
    startTime: formatTime(Math.floor(sources.startedMs / 1000) * 1000),
    uptimeSeconds: Math.floor((sources.wallMs() - sources.startedMs) / 1000),
    goVersion: `none, Node ${process.version}`,
    binaryVersion: sources.version,
    emulationVersion: EMULATED_VERSION,
    paths: sources.paths,
  };
}

type Line = readonly [name: string, value: string];

function flagLines({ flags }: ZpageSources): readonly Line[] {
  return Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));
}

function statusLines({ startedMs, wallMs, version, paths }: ZpageSources): readonly Line[] {
  return [
    ['Started', unixDate(new Date(startedMs))],
    ['Up', upTime(Math.floor((wallMs() - startedMs) / 1000))],
    ['Node version', process.version],
    ['Binary version', version],
    ['Emulation version', EMULATED_VERSION],
    ['Paths', paths.join(' ')],
  ];
}

/** `Sun Nov 29 22:09:04 UTC 2026` */
function unixDate(date: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = date.toUTCString().split(/,? /);
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

function upTime(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}
