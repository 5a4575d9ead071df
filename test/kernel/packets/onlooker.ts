import { setName } from '../../../src/kernel/ipset/definitions.ts';
import { addressPortEntry } from '../../../src/kernel/ipset/state.ts';
import { virtualServerKey } from '../../../src/kernel/ipvs/state.ts';
import type { Family } from '../../../src/net/family.ts';
import type { Port } from '../../../src/net/port.ts';
import { type TracedState, tracer } from '../../trace/path.ts';
import { readState } from '../../trace/states.ts';
import type { MemoryKernel } from '../memory-kernel.ts';
import { type Answer, answerOf, faultOf, IN_VAIN, LET_IN, UNSERVED } from './answers.ts';
import { NODE } from './ground.ts';
import type { Piece } from './line-by-line.ts';
import { concerned, names, type Question, questionsOf } from './questions.ts';

/** States of one family that a change may lead from and to. */
export type Ends = readonly TracedState[];

export interface OnlookerGiven {
  readonly kernel: MemoryKernel;
  readonly ends: Readonly<Record<Family, Ends>>;
  /** Lines that the kernel has refused; their frontends may lack what serves. Live. */
  readonly refused: ReadonlySet<string>;
}

/** Asks what becomes of packets whenever a piece of a script has run. */
export class Onlooker {
  /** How often it has looked. */
  moments = 0;
  readonly #given: OnlookerGiven;
  readonly #asked: Readonly<Record<Family, readonly Asked[]>>;

  constructor(given: OnlookerGiven) {
    this.#given = given;
    this.#asked = { IPv4: askedOf(given.ends.IPv4), IPv6: askedOf(given.ends.IPv6) };
  }

  /** Throws at the first answer that none of the ends gives and that harms. */
  async look({ text, family }: Piece): Promise<void> {
    this.moments += 1;
    const { kernel, refused } = this.#given;
    const state = await readState(kernel, family);
    const follow = tracer(state, NODE);
    for (const { name, packet, ends, isDisputed, isNew } of concerned(this.#asked[family], text.trimEnd())) {
      const now = answerOf(packet, follow(packet));
      const fault = faultOf(ends, now);
      if (fault === undefined || (EXCUSED.has(fault) && lacks(packet, refused))) continue;
      const comesBeforeAddress = isNew && !state.dummy.addresses.has(packet.destination);
      if (fault === LET_IN && packet.from === 'process' && comesBeforeAddress) continue;
      if (fault === UNSERVED && isDisputed && DISPUTED.test(now.text)) continue;
      const all = ends.map((end) => end.text).join('" or "');
      throw new Error(`${name} is ${fault} after\n${text}"${now.text}", and should be "${all}"`);
    }
  }
}

interface Asked extends Question {
  readonly ends: readonly Answer[];
  /** The ends tell Pods from others in different ways, and the frontend keeps out others in some of them only. */
  readonly isDisputed: boolean;
  /** No virtual server stood there at first. What closes one to the node itself holds from when its address is bound. */
  readonly isNew: boolean;
}

function askedOf(ends: Ends): readonly Asked[] {
  const tracers = ends.map((state) => tracer(state, NODE));
  const areDifferent = new Set(ends.map(keptOut)).size > 1;
  return questionsOf(ends).map((question) => ({
    ...question,
    ends: tracers.map((follow) => answerOf(question.packet, follow(question.packet))),
    isNew: !ends[0] || !serves(ends[0], question),
    isDisputed: areDifferent && new Set(ends.map((end) => keepsOut(end, question))).size > 1,
  }));
}

function serves({ ipvs }: TracedState, { packet: { protocol, destination, port } }: Question): boolean {
  return protocol !== 'ICMP' && ipvs.has(virtualServerKey({ protocol, address: destination, port: port as Port }));
}

/** Rules that tell Pods from others to keep the others out. */
function keptOut({ tables: { filter } }: TracedState): string {
  const rules = ('chains' in filter ? filter.chains : filter).get('KUBE-PROXY-FIREWALL') ?? [];
  return rules.filter((rule) => rule.includes('-EXTERNAL-NO-LOCAL ')).join('\n');
}

function keepsOut({ sets, family }: TracedState, { packet }: Question): boolean {
  const { protocol, destination, port } = packet;
  if (protocol === 'ICMP') return false;
  const entry = addressPortEntry(destination, protocol, port as Port);
  return sets.get(setName('EXTERNAL-NO-LOCAL', family))?.entries.has(entry) ?? false;
}

/** Without the entry of its address no other port is closed there, so that it is not bound. */
function lacks(packet: Question['packet'], refused: ReadonlySet<string>): boolean {
  return [...refused].some((line) => line.includes('-IPVS-IPS ') || names(line, packet));
}

/** What becomes of clients of frontends that lack something. Nobody is let in for that. */
const EXCUSED: ReadonlySet<string> = new Set([UNSERVED, IN_VAIN]);

/** Kept out as in one of the ends, meanwhile. */
const DISPUTED = /^(dropped by KUBE-PROXY-FIREWALL( \| )?)+$/;
