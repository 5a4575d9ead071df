import type { Outcome } from '../../trace/outcome.ts';
import type { GivenPacket } from '../../trace/path.ts';

/** What becomes of a new connection, whichever real server is chosen. */
export interface Answer {
  /** Somebody answers, always. */
  readonly isServed: boolean;
  /** A rule keeps the sender out, or nobody is there. */
  readonly isClosed: boolean;
  /** It may reach somebody, whether answered or not. */
  readonly isOpen: boolean;
  /** It may reach somebody whose answers do not come back. */
  readonly isInVain: boolean;
  /** It reaches a socket of the node, as no virtual server sends it on. */
  readonly isHost: boolean;
  readonly text: string;
}

export function answerOf({ destination: dialled }: GivenPacket, outcomes: readonly Outcome[]): Answer {
  const arrivals = outcomes.filter((outcome) => outcome.kind === 'delivered');
  const isInVain = arrivals.some(({ answered }) => !answered);
  return {
    isServed: outcomes.length > 0 && arrivals.length === outcomes.length && !isInVain,
    isClosed: outcomes.every((outcome) => 'by' in outcome),
    isOpen: arrivals.length > 0,
    isInVain,
    isHost: arrivals.some(({ destination }) => destination === dialled),
    text: outcomes.map(describe).join(' | '),
  };
}

/**
 * What a connection must not meet between the states of which one was and one is to be: nobody, where all of them serve it; somebody, where all
 * are closed to it; an endpoint that does not answer or the node itself, where none of them leads there. `undefined` when all is well.
 */
export function faultOf(ends: readonly Answer[], now: Answer): string | undefined {
  if (ends.every(({ isServed }) => isServed) && !now.isServed) return UNSERVED;
  if (ends.every(({ isClosed }) => isClosed) && now.isOpen) return LET_IN;
  if (now.isInVain && !ends.some(({ isInVain }) => isInVain)) return IN_VAIN;
  if (now.isHost && !ends.some(({ isHost }) => isHost)) return 'led to the node';
  return undefined;
}

export const UNSERVED = 'not served';
export const LET_IN = 'let in';
export const IN_VAIN = 'served in vain';

function describe(outcome: Outcome): string {
  if ('by' in outcome) return `${outcome.kind} by ${outcome.by}`;
  const { kind, destination, port, source, answered } = outcome;
  return `${kind} to ${destination} port ${port} as ${source}${answered ? '' : ' in vain'}`;
}
