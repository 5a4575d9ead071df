import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { requireLab } from './in-lab.ts';

export type TrafficProtocol = 'tcp' | 'udp' | 'sctp' | 'http';

export interface Target {
  /** Namespace of the client. */
  readonly from: string;
  readonly protocol: TrafficProtocol;
  readonly address: string;
  readonly port: number;
  /** Address to bind first, where the namespace has several. */
  readonly source?: string;
  /** Local port to bind first; for TCP also one that has just been used. */
  readonly sourcePort?: number;
  /** How long to wait for one answer, default 1500; a dropped packet costs all of it. */
  readonly patienceMs?: number;
  /** Size of a request that the server has to send back; without it, and for http always, a short one is sent. */
  readonly bytes?: number;
  /** For http; default: /. */
  readonly path?: string;
}

/** Counts by text. Together they add up to the exchanges asked for. */
export interface Replies {
  /** By 'NAME PEER': the server that answered, and the client's address as it saw it. */
  readonly answers: ReadonlyMap<string, number>;
  /** By what happened instead: refused, reset, timeout, silent (a connection without an answer), closed, forbidden, unreachable, 'status 503', or the system's words. */
  readonly troubles: ReadonlyMap<string, number>;
}

export interface Connection {
  /** The first exchange's 'NAME PEER', or its trouble as in `Replies`. */
  readonly first: string;
  /** One more exchange on the same connection; for UDP, from the same local port. Not for http. */
  again(patienceMs?: number): Promise<string>;
  /** Has a server send the client of a TCP connection a segment far out of its window. */
  disturb(server: { readonly namespace: string; readonly address: string; readonly port: number }): Promise<void>;
  /** `reset` gives a TCP connection up at once instead of ending it. */
  close(how?: 'reset'): Promise<void>;
}

/** Servers and clients in any namespace of the lab, all in one helper process. Requests may overlap. */
export interface Traffic {
  /** Answers on TCP, HTTP, UDP and SCTP of this port, both families, until stopped; asking for it again changes nothing. */
  serve(namespace: string, name: string, port: number): Promise<void>;
  /** Closes the server's listeners and connections on all its ports; one that does not exist is fine. */
  stopServing(namespace: string, name: string): Promise<void>;
  /** `times` exchanges (default 1) one after another, each on a new connection. */
  ask(target: Target & { readonly times?: number }): Promise<Replies>;
  open(target: Target): Promise<Connection>;
  /** Answered exchanges a second, each on a new connection. */
  rate(target: Target & { readonly seconds: number }): Promise<number>;
  /** One answer over TCP in so many parts, of which the server sends one every 0.2 s: 'NAME PEER', or its trouble as in `Replies`. */
  download(target: Target & { readonly parts: number }): Promise<string>;
  /** Ends the helper process, and with it every server and connection. */
  end(): Promise<void>;
}

/** The helper's program, for Python 3.11 or later. */
export const TRAFFIC_HELPER = fileURLToPath(new URL('traffic.py', import.meta.url));

/** Starts the helper process. Throws outside hack/lab.sh. */
export function startTraffic(): Traffic {
  requireLab();
  const helper = startHelper('/usr/bin/python3', [TRAFFIC_HELPER]);
  return trafficThrough((namespace) => ({ helper, namespace }), helper.end);
}

/** Where a host's sockets are made: the helper, and how that calls the namespace. */
export interface Place {
  readonly helper: Helper;
  readonly namespace: string;
}

/** The same with helpers anywhere; `placeOf` is given names as `Target.from` and `serve` have them. */
export function trafficThrough(placeOf: (host: string) => Place, end: () => Promise<void>): Traffic {
  let connections = 0;
  const request = (host: string, name: string, args: object): Promise<unknown> => {
    const { helper, namespace } = placeOf(host);
    return helper.request(name, { ...args, namespace });
  };
  const text = (answer: unknown): string => (answer as [boolean, string])[1];
  return {
    serve: async (namespace, name, port) => {
      await request(namespace, 'serve', { name, port });
    },
    stopServing: async (namespace, name) => {
      await request(namespace, 'stop', { name });
    },
    ask: async ({ times = 1, ...target }) => {
      const args = { times, ...targetArguments(target), ...patience(target.patienceMs) };
      const value = (await request(target.from, 'ask', args)) as Counts;
      return { answers: toMap(value.answers), troubles: toMap(value.troubles) };
    },
    open: async (target) => {
      connections += 1;
      const key = connections;
      const { helper } = placeOf(target.from);
      const args = { key, ...targetArguments(target), ...patience(target.patienceMs) };
      return {
        first: text(await request(target.from, 'open', args)),
        again: async (patienceMs) => text(await helper.request('again', { key, ...patience(patienceMs) })),
        disturb: async ({ namespace, address, port }) => {
          await request(namespace, 'stray', { key, address, port });
        },
        close: async (how) => {
          await helper.request('close', { key, ...(how ? { reset: true } : {}) });
        },
      };
    },
    rate: async ({ seconds, ...target }) =>
      (await request(target.from, 'rate', { seconds, ...targetArguments(target) })) as number,
    download: async ({ parts, ...target }) => {
      const args = { parts, ...targetArguments(target), ...patience(target.patienceMs) };
      return text(await request(target.from, 'download', args));
    },
    end,
  };
}

/** Counts by server name alone. */
export function countByServer({ answers }: Replies): ReadonlyMap<string, number> {
  return countBy(answers, (answer) => answer.split(' ')[0] ?? '');
}

/** Counts by the client's address as the servers saw it. */
export function countByPeer({ answers }: Replies): ReadonlyMap<string, number> {
  return countBy(answers, (answer) => answer.split(' ')[1] ?? '');
}

interface Counts {
  readonly answers: Readonly<Record<string, number>>;
  readonly troubles: Readonly<Record<string, number>>;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A process that answers requests in any order. */
export interface Helper {
  request(name: string, args: object): Promise<unknown>;
  end(): Promise<void>;
}

/** Starts the helper's program by a command whose standard input and output are the helper's. */
export function startHelper(command: string, args: readonly string[]): Helper {
  const started = execa(command, args, { reject: false, stderr: 'inherit', buffer: false });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let ended = false;

  createInterface({ input: started.stdout }).on('line', (line) => {
    const { id, value, error } = JSON.parse(line) as { id: number; value?: unknown; error?: string };
    const asker = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asker?.resolve(value);
    else asker?.reject(new Error(`traffic helper: ${error}`));
  });
  void started.then(() => {
    ended = true;
    for (const { reject } of waiting.values()) reject(new Error('the traffic helper has ended'));
    waiting.clear();
  });
  return {
    request: (name, args) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(new Error('the traffic helper has ended'));
        last += 1;
        waiting.set(last, { resolve, reject });
        started.stdin.write(`${JSON.stringify({ id: last, request: name, ...args })}\n`);
      }),
    end: async () => {
      started.stdin.end();
      await started;
    },
  };
}

function targetArguments({ protocol, address, port, source, sourcePort, bytes, path }: Target): object {
  const optional = Object.entries({ source, source_port: sourcePort, bytes, path }).filter(
    ([, value]) => value !== undefined,
  );
  return { protocol, address, port, ...Object.fromEntries(optional) };
}

function patience(patienceMs: number | undefined): object {
  return patienceMs === undefined ? {} : { patience: patienceMs / 1000 };
}

function toMap(counts: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(counts));
}

function countBy(counts: ReadonlyMap<string, number>, key: (text: string) => string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [text, count] of counts) sums.set(key(text), (sums.get(key(text)) ?? 0) + count);
  return sums;
}
