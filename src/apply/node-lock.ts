import { readlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Clock } from '../queue/clock.ts';

/** Who programs this node, as it tells others that ask. */
export interface LockHolder {
  /** As the process itself sees it. */
  readonly pid: number;
  /** As `readlink /proc/self/ns/pid` prints it: a container's first process is 1 to itself. */
  readonly pidNamespace: string;
  /** `run` or `cleanup`. */
  readonly command: string;
  readonly version: string;
}

export interface NodeLock {
  /** Lets others program the node. The end of the process does the same, however it ends. */
  release(): Promise<void>;
}

export type LockError =
  /** `holder` is absent when what has the name does not tell who it is. */
  | { readonly kind: 'lock-held'; readonly holder?: LockHolder }
  /** No socket of that kind can be opened; `code` is the system's, e.g. `EPERM`. */
  | { readonly kind: 'lock-failed'; readonly code: string };

export interface LockOptions {
  readonly clock: Clock;
  /** How long to wait for a holder to end; 0 does not wait. */
  readonly patienceMs: number;
  /** Ends the waiting when it is aborted. */
  readonly signal?: AbortSignal;
  /** Told once, when it comes to waiting. */
  readonly waiting?: (error: LockError) => void;
  /** Name of the socket; tests have their own. */
  readonly address?: string;
}

/**
 * Takes the right to program this node, which one process of a network namespace has at a time. It is the name of an abstract socket: the
 * kernel keeps such names for each network namespace, as it keeps what we program, and frees them with the process that has them.
 */
export async function lockNode(
  { command, version }: Pick<LockHolder, 'command' | 'version'>,
  { clock, patienceMs, signal, waiting, address = NODE_SOCKET }: LockOptions,
): Promise<Result<NodeLock, LockError>> {
  const self: LockHolder = { pid: process.pid, pidNamespace: readlinkSync('/proc/self/ns/pid'), command, version };
  const untilMs = clock.nowMs() + patienceMs;
  for (let attempt = 1; ; attempt++) {
    const taken = await listen(address, self);
    if (taken.ok || taken.error.kind === 'lock-failed') return taken;
    const other = await askHolder(address, clock);
    const error: LockError = other.holder ? { kind: 'lock-held', holder: other.holder } : { kind: 'lock-held' };
    const leftMs = untilMs - clock.nowMs();
    if (leftMs > 0 && !signal?.aborted) {
      if (attempt === 1) waiting?.(error);
      await anyOf([other.ended], { clock, afterMs: other.holder ? leftMs : Math.min(leftMs, LOOK_AGAIN_MS), signal });
    }
    other.hangUp();
    if (leftMs <= 0 || signal?.aborted) return fail(error);
  }
}

/** Who has the lock, without taking it; `undefined` when nobody has. */
export async function readLockHolder(
  clock: Clock,
  address = NODE_SOCKET,
): Promise<Result<LockHolder | undefined, LockError>> {
  const { holder, isThere, hangUp } = await askHolder(address, clock);
  hangUp();
  return isThere && !holder ? fail({ kind: 'lock-held' }) : succeed(holder);
}

/** One line for a person. */
export function describeLockError(error: LockError): string {
  if (error.kind === 'lock-failed') return `the node cannot be locked: ${error.code} for abstract socket ${SHOWN_NAME}`;
  if (!error.holder) return `another process has abstract socket ${SHOWN_NAME}, and does not tell which one it is`;
  const { pid, pidNamespace, command, version } = error.holder;
  const where = pidNamespace === readlinkSync('/proc/self/ns/pid') ? '' : ` of PID namespace ${pidNamespace}`;
  return `another ipvs-proxier programs this node: ${command}, version ${version}, process ${pid}${where}`;
}

const SHOWN_NAME = '@ipvs-proxier';
const NODE_SOCKET = '\0ipvs-proxier';

/** A holder that does not answer within this time is one that does not tell. */
const ANSWER_MS = 1_000;

/** Where the end of the holder cannot be noticed. */
const LOOK_AGAIN_MS = 200;

/** Those who wait; more than anyone needs, and few enough to cost nothing. */
const MAX_WAITING = 32;

function listen(address: string, self: LockHolder): Promise<Result<NodeLock, LockError>> {
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(socket);
    // Their troubles are theirs; the connection stays, so that they notice the end of this process.
    socket.on('error', () => {}).on('close', () => waiting.delete(socket));
    socket.resume().write(`${JSON.stringify(self)}\n`);
  });
  server.maxConnections = MAX_WAITING;
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? error.message;
      resolve(fail(code === 'EADDRINUSE' ? { kind: 'lock-held' } : { kind: 'lock-failed', code }));
    });
    server.listen({ path: address }, () => resolve(succeed({ release: () => close(server, waiting) })));
  });
}

function close(server: Server, waiting: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of waiting) socket.destroy();
  });
}

interface Asked {
  readonly holder: LockHolder | undefined;
  /** Something takes connections at that address. */
  readonly isThere: boolean;
  /** Resolves when the holder, or the connection to it, has ended. */
  readonly ended: Promise<void>;
  hangUp(): void;
}

async function askHolder(address: string, clock: Clock): Promise<Asked> {
  const socket = connect({ path: address });
  const answered = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let text = '';
  let isConnected = false;
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('connect', () => {
    isConnected = true;
  });
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (text.includes('\n')) answered.resolve();
    else if (text.length > LONGEST_ANSWER) socket.destroy();
  });
  // A name whose socket takes no connections cannot be watched: only looking again helps.
  socket.on('close', () => {
    answered.resolve();
    if (isConnected) ended.resolve();
  });
  await anyOf([answered.promise], { clock, afterMs: ANSWER_MS });
  return { holder: readHolder(text), isThere: isConnected, ended: ended.promise, hangUp: () => socket.destroy() };
}

const LONGEST_ANSWER = 10_000;

/** Anybody on the node may have the name, so what is told is not believed before it has the right form. */
function readHolder(text: string): LockHolder | undefined {
  try {
    const { pid, pidNamespace, command, version } = JSON.parse(text.split('\n')[0] ?? '') as Record<string, unknown>;
    const words = [pidNamespace, command, version];
    if (!Number.isInteger(pid) || !words.every((word) => typeof word === 'string' && WORD.test(word))) return undefined;
    return { pid, pidNamespace, command, version } as LockHolder;
  } catch {
    return undefined;
  }
}

const WORD = /^[\w.:[\]+-]{1,80}$/;

interface Patience {
  readonly clock: Clock;
  readonly afterMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the first of them, after that time, or when the signal is aborted. */
async function anyOf(events: readonly Promise<void>[], { clock, afterMs, signal }: Patience): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(afterMs, late.resolve);
  const abort = () => late.resolve();
  signal?.addEventListener('abort', abort);
  await Promise.race([...events, late.promise]);
  signal?.removeEventListener('abort', abort);
  cancel();
}
