import type { Family } from '../../src/net/family.ts';
import { countByServer, type Replies, type Target, type TrafficProtocol } from '../lab/traffic.ts';
import { waitFor } from '../lab/wait-for.ts';
import type { Cluster } from './cluster.ts';
import type { Addresses } from './service-view.ts';

/** Who asks where: every asker at every place, in every family that the place has an address of, over every protocol. */
export interface Question {
  /** Hosts of the lab. */
  readonly from: string | readonly string[];
  readonly at: Addresses | readonly Addresses[];
  readonly port: number;
  /** Default: http. */
  readonly over?: TrafficProtocol | readonly TrafficProtocol[];
  /** Exchanges of each asker at each place, one after another; default 8. */
  readonly times?: number;
  /** Bytes of the request that have to come back; default: a short request. */
  readonly bytes?: number;
  /** For http; default: /. */
  readonly path?: string;
  /** How long each waits for one answer, where waiting in vain is what is expected. */
  readonly patienceMs?: number;
}

/**
 * Each resolves when every asker at every place has been told what is expected in all exchanges of one round, and rejects with
 * what was told last when that takes longer than the cluster's patience.
 */
export interface Asker {
  /** Exactly these hosts answer, no others, and nothing else happens. */
  expectAnswers(question: Question, hosts: readonly string[]): Promise<void>;
  /** One host answers all exchanges, always the same: which one is given for each asker, place and protocol. */
  expectOneAnswer(question: Question): Promise<readonly string[]>;
  /** Nobody answers, and what happens instead is one of these: refused, timeout, … */
  expectTrouble(question: Question, troubles: readonly string[]): Promise<void>;
  /** Answered, and the servers saw exactly this address of a host as the asker's; 'itself' is the asker. */
  expectSeenAs(question: Question, host: string): Promise<void>;
  /** Every answer has this in it. */
  expectText(question: Question, text: string): Promise<void>;
  /** As `expectAnswers`, in the first round. */
  answersNow(question: Question, hosts: readonly string[]): Promise<void>;
}

interface Told {
  readonly title: string;
  readonly from: string;
  readonly family: Family;
  readonly ask: () => Promise<Replies>;
}

export function askerOf(cluster: Cluster): Asker {
  const patience = { timeoutMs: cluster.patienceMs, everyMs: 600 };

  async function eventually(question: Question, expected: string, isDone: (replies: Replies, told: Told) => boolean) {
    return Promise.all(
      questionsOf(cluster, question).map((told) =>
        waitFor(`${told.title}: ${expected}`, told.ask, (replies) => isDone(replies, told), patience),
      ),
    );
  }
  return {
    expectAnswers: async (question, hosts) => {
      await eventually(question, `answers of ${hosts.join(', ')}`, (replies) => isAnsweredBy(replies, hosts));
    },
    expectOneAnswer: async (question) => {
      const rounds = await eventually(question, 'one pod for all', (replies) => {
        return replies.troubles.size === 0 && hostsOf(replies).length === 1;
      });
      return rounds.map((replies) => hostsOf(replies).join());
    },
    expectTrouble: async (question, troubles) => {
      await eventually(question, troubles.join(' or '), (replies) => {
        return replies.answers.size === 0 && [...replies.troubles.keys()].every((word) => troubles.includes(word));
      });
    },
    expectSeenAs: async (question, host) => {
      await eventually(question, `seen as ${host}`, (replies, { from, family }) => {
        const address = addressOf(cluster, host === 'itself' ? from : host, family);
        const peers = [...replies.answers.keys()].map((answer) => answer.split(' ')[1]);
        return replies.troubles.size === 0 && peers.every((peer) => peer === address);
      });
    },
    expectText: async (question, text) => {
      await eventually(question, `answers with ${text}`, (replies) => {
        return replies.troubles.size === 0 && [...replies.answers.keys()].every((answer) => answer.includes(text));
      });
    },
    answersNow: async (question, hosts) => {
      for (const { title, ask } of questionsOf(cluster, question)) {
        const replies = await ask();
        if (!isAnsweredBy(replies, hosts)) throw new Error(`${title}: not only ${hosts.join(', ')}: ${show(replies)}`);
      }
    },
  };
}

function isAnsweredBy(replies: Replies, hosts: readonly string[]): boolean {
  return replies.troubles.size === 0 && hostsOf(replies).join() === [...hosts].sort().join();
}

/** Hosts that answered, sorted; a server is called HOST/PORT. */
export function hostsOf(replies: Replies): readonly string[] {
  return [...new Set([...countByServer(replies).keys()].map((name) => name.split('/')[0] ?? ''))].sort();
}

function questionsOf(
  cluster: Cluster,
  { from, at, port, over = 'http', times = 8, patienceMs = 5000, ...others }: Question,
) {
  const all = list(from).flatMap((asker) =>
    list<Addresses>(at).flatMap((place) =>
      cluster.families.flatMap((family) =>
        list(over).flatMap((protocol): Told[] => {
          const address = place[family];
          if (address === undefined) return [];
          const target: Target & { times: number } = {
            from: asker,
            protocol,
            address,
            port,
            times,
            patienceMs,
            ...others,
          };
          const ask = () => askUntilTrouble(cluster, target);
          return [{ title: `${asker} at ${address} ${port} over ${protocol}`, from: asker, family, ask }];
        }),
      ),
    ),
  );
  if (all.length === 0) throw new Error('nobody is asked: the place has no address of these families');
  return all;
}

/** Where the first exchange is in vain, the others would only cost time. */
async function askUntilTrouble({ traffic }: Cluster, target: Target & { readonly times: number }): Promise<Replies> {
  const first = await traffic.ask({ ...target, times: 1 });
  if (first.troubles.size > 0 || target.times === 1) return first;
  const { answers, troubles } = await traffic.ask({ ...target, times: target.times - 1 });
  const sums = new Map(answers);
  for (const [text, count] of first.answers) sums.set(text, (sums.get(text) ?? 0) + count);
  return { answers: sums, troubles };
}

function list<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T];
}

function addressOf({ lab }: Cluster, name: string, family: Family): string {
  const host = [...lab.nodes, ...lab.pods].find((each) => each.name === name) ?? lab.client(name);
  return host.addresses[family];
}

function show({ answers, troubles }: Replies): string {
  return JSON.stringify({ answers: Object.fromEntries(answers), troubles: Object.fromEntries(troubles) });
}
