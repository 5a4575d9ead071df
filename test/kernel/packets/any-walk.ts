import fc from 'fast-check';
import type { Behaviour, ProxySettings } from '../../../src/desired/settings.ts';
import { anySettings, anyStep, type WalkStep } from '../any-cluster.ts';
import type { ObjectJson } from '../cluster-objects.ts';
import { inPlace, rotate } from './ground.ts';
import type { Looks } from './line-by-line.ts';

/** One change of the cluster, or of the settings, and what may go wrong meanwhile. */
export interface PacketStep {
  readonly by: WalkStep['by']['kind'];
  /** Of a new process, where it is to have others. */
  readonly settings: ProxySettings;
  readonly objects: readonly ObjectJson[];
  /** What the cluster has come to when the first change was not done. */
  readonly later: readonly ObjectJson[];
  readonly refusal: Refusal;
  /** Lines and tables that have run when the program and its tools die. */
  readonly piecesBeforeDeath: number;
}

/** Which lines the kernel refuses: some of those that begin so. */
export interface Refusal {
  readonly start: string;
  readonly percent: number;
  /** Which of them; the same number chooses the same ones. */
  readonly salt: number;
}

export interface PacketWalkSketch {
  readonly settings: ProxySettings;
  /** How long addresses of deleted Services refuse. */
  readonly closingMs: number;
  readonly steps: readonly PacketStep[];
}

export function anyPacketWalk(behaviours: readonly Behaviour[]): fc.Arbitrary<PacketWalkSketch> {
  const steps = fc.array(anyPacketStep(behaviours), { minLength: 2, maxLength: 3 });
  return fc.record({
    settings: fc.constantFrom(...behaviours).chain(anySettings),
    closingMs: fc.constantFrom(0, 30_000),
    steps,
  });
}

function anyPacketStep(behaviours: readonly Behaviour[]): fc.Arbitrary<PacketStep> {
  const turn = fc.nat(2);
  return fc
    .record({
      step: anyStep(behaviours),
      settings: fc.constantFrom(...behaviours).chain(anySettings),
      later: anyStep(behaviours),
      turns: fc.tuple(turn, turn),
      masqueradeBit: fc.constantFrom(14, 14, 9),
      refusal: fc.record({
        start: fc.constantFrom(...STARTS),
        percent: fc.constantFrom(3, 10, 30, 100),
        salt: fc.nat(),
      }),
      piecesBeforeDeath: fc.nat({ max: 60 }),
    })
    .map(({ step: { by, objects }, later, turns: [turned, turnedLater], settings, masqueradeBit, ...rest }) => ({
      ...rest,
      by: by.kind,
      settings: { ...settings, masqueradeBit },
      objects: rotate(inPlace(objects), turned),
      later: rotate(inPlace(later.objects), turnedLater),
    }));
}

const STARTS = [
  ...['', '', 'add', 'del', '-A', '-a', '-E', '-e', '-D', '-d', 'address replace', 'address delete'],
  ...['*', '*', '*nat', '*nat', '*filter', '*filter'],
  ...['add KUBE-LOAD-BALANCER', 'add KUBE-CLUSTER-IP', 'add KUBE-EXTERNAL'],
];

export function refusing({ start, percent, salt }: Refusal): NonNullable<Looks['isRefused']> {
  return ({ text }) => text.startsWith(start) && hash(`${salt} ${text}`) % 100 < percent;
}

function hash(text: string): number {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
  return ((sum ^ (sum >>> 13)) * 2654435761) >>> 0;
}
