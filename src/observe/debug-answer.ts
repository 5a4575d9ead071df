import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerWith, JSON_TYPE, notFound, TEXT } from './answer.ts';
import { PROFILES, recordProfile } from './profiles.ts';

export interface DebugOptions {
  /** Sets `--v`. */
  readonly setVerbosity: (verbosity: number) => void;
}

/** What a request is for. */
export interface Target {
  readonly pathname: string;
  readonly searchParams: URLSearchParams;
}

/** Answers what is below `/debug/`; Go's profiles have no counterpart but for these two. */
export async function answerDebug(
  { setVerbosity }: DebugOptions,
  { pathname, searchParams }: Target,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const profile = PROFILES.find((name) => pathname === `/debug/pprof/${name}`);
  if (profile) {
    const seconds = Number(searchParams.get('seconds') ?? DEFAULT_SECONDS);
    if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
      answerWith(response, 400, TEXT, `seconds must be more than 0 and at most ${MAX_SECONDS}\n`);
    } else answerWith(response, 200, JSON_TYPE, await recordProfile(profile, seconds * 1000));
  } else if (pathname === '/debug/pprof') {
    answerWith(response, 302, TEXT, '', { Location: '/debug/pprof/' });
  } else if (pathname === '/debug/pprof/') {
    answerWith(
      response,
      200,
      TEXT,
      PROFILES.map((name) => `/debug/pprof/${name}?seconds=${DEFAULT_SECONDS}\n`).join(''),
    );
  } else if (pathname === '/debug/flags' || pathname === '/debug/flags/') {
    answerWith(response, 200, TEXT, '/debug/flags/v\n');
  } else if (pathname === '/debug/flags/v') await changeVerbosity(setVerbosity, request, response);
  else notFound(response);
}

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 300;
const MAX_BODY_BYTES = 1024;

/** Source: kubernetes/apiserver pkg/server/routes/flags.go */
async function changeVerbosity(
  setVerbosity: (verbosity: number) => void,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'PUT') return answerWith(response, 406, TEXT, 'unrecognized http method\n');
  const text = await readBody(request);
  if (!/^\d{1,9}$/.test(text)) {
    return answerWith(response, 400, TEXT, `error set value to --v: ${JSON.stringify(text)} is no log level\n`);
  }
  setVerbosity(Number(text));
  answerWith(response, 200, TEXT, `successfully set klog.logging.verbosity to ${text}`);
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) if (text.length < MAX_BODY_BYTES) text += String(chunk);
  return text.trim();
}
