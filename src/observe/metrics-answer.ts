import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { answerWith, JSON_TYPE, notFound, TEXT } from './answer.ts';
import { answerDebug, type DebugOptions, type Target } from './debug-answer.ts';
import { IPVS_DETAILS, type IpvsDetail } from './ipvs-page.ts';
import type { Answer } from './listen.ts';
import { pingCheck } from './ping-check.ts';
import type { Slis } from './slis.ts';
import { NO_SUCH_SERVICE } from './status.ts';
import { answerZpage } from './zpage-answer.ts';
import type { ZpageKind, ZpageSources } from './zpages.ts';

/** A page in pieces; those that are bytes are ASCII. */
export type Page = AsyncGenerator<string | Uint8Array>;

export interface MetricsAnswerOptions {
  readonly page: (detail: IpvsDetail) => Page;
  readonly slis: Slis;
  readonly configz: () => string;
  /** JSON; with every Service, or with one, by `namespace/name`. `undefined` when there is no such Service. */
  readonly status: (asked: string | undefined) => Page | undefined;
  readonly zpages: ZpageSources;
  /** Which of the two pages there are. */
  readonly zpageKinds: readonly ZpageKind[];
  /** `undefined` when profiling is off. */
  readonly debug: DebugOptions | undefined;
  readonly counted: (status: number) => void;
  /** Something in here failed that cannot fail. */
  readonly broken: (error: unknown) => void;
}

/** Answers everything on the port for metrics. */
export function metricsAnswer(options: MetricsAnswerOptions): Answer {
  return (request, response) => {
    route(options, request, response).catch((error: unknown) => {
      options.broken(error);
      response.destroy();
    });
  };
}

const EXPOSITION = 'text/plain; version=0.0.4; charset=utf-8';

async function route(options: MetricsAnswerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { slis, configz, zpages, zpageKinds, debug } = options;
  const url = targetOf(request);
  const zpage = zpageKinds.find((kind) => url.pathname === `/${kind.toLowerCase()}`);
  if (zpage) return answerZpage(zpage, request.headers.accept, response, zpages);
  if (debug && url.pathname.startsWith('/debug/')) return answerDebug(debug, url, request, response);
  switch (url.pathname) {
    case '/metrics':
      return answerMetrics(options, url, request, response);
    case '/metrics/slis':
      if (request.method !== 'DELETE') return answerWith(response, 200, EXPOSITION, slis.page());
      slis.reset();
      return answerWith(response, 200, TEXT, 'metrics reset\n');
    case '/healthz':
    case '/healthz/ping':
      slis.checked();
      return answerWith(response, 200, TEXT, pingCheck(url.searchParams));
    case '/proxyMode':
      return answerWith(response, 200, TEXT, 'ipvs');
    case '/status':
      return answerStatus(options, url, request, response);
    case '/configz':
      return answerWith(response, 200, JSON_TYPE, configz());
    default:
      return notFound(response);
  }
}

function targetOf({ url = '/' }: IncomingMessage): Target {
  const [pathname = '', ...query] = url.split('?');
  return { pathname, searchParams: new URLSearchParams(query.join('?')) };
}

/** `?service=NAMESPACE/NAME` asks for one Service in detail, `?service=all` for every one. */
function answerStatus(
  { status, broken }: MetricsAnswerOptions,
  url: Target,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const page = status(url.searchParams.get('service') ?? undefined);
  if (page) sendPage(page, JSON_TYPE, request, response, broken);
  else answerWith(response, 404, TEXT, NO_SUCH_SERVICE);
}

/** `?ipvs=` tells how much of IPVS is wanted. */
function answerMetrics(
  { page, counted, broken }: MetricsAnswerOptions,
  url: Target,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const asked = url.searchParams.get('ipvs') ?? 'backends';
  const detail = IPVS_DETAILS.find((known) => known === asked);
  counted(detail ? 200 : 400);
  if (detail) sendPage(page(detail), EXPOSITION, request, response, broken);
  else answerWith(response, 400, TEXT, `ipvs must be one of ${IPVS_DETAILS.join(', ')}\n`);
}

function sendPage(
  page: Page,
  type: string,
  request: IncomingMessage,
  response: ServerResponse,
  broken: MetricsAnswerOptions['broken'],
): void {
  const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  response.writeHead(200, {
    'Content-Type': type,
    'X-Content-Type-Options': 'nosniff',
    ...(zipped ? { 'Content-Encoding': 'gzip' } : {}),
  });
  const done = (error: NodeJS.ErrnoException | null) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') broken(error);
  };
  const pieces = Readable.from(encoded(page), { objectMode: false });
  if (zipped) pipeline(pieces, createGzip({ level: constants.Z_BEST_SPEED }), response, done);
  else pipeline(pieces, response, done);
}

/** As bytes from the start, and small pieces together: what sends or packs them would else encode each more than once, and do so for every metric. */
async function* encoded(page: Page): AsyncGenerator<Uint8Array> {
  let waiting = '';
  for await (const piece of page) {
    const isText = typeof piece === 'string';
    if (isText) waiting += piece;
    if (waiting.length >= (isText ? PIECE_LENGTH : 1)) {
      yield Buffer.from(waiting);
      waiting = '';
    }
    if (!isText) yield piece;
  }
  if (waiting !== '') yield Buffer.from(waiting);
}

const PIECE_LENGTH = 1 << 14;
