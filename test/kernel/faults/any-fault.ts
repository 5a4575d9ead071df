import fc from 'fast-check';
import { PROC_IPVS } from '../../../src/apply/read-ipvs.ts';
import type { Behaviour } from '../../../src/desired/settings.ts';
import { anyStep, type WalkStep } from '../any-cluster.ts';
import type { ObjectJson } from '../cluster-objects.ts';
import type { Fault, How, Place } from './faulty-host.ts';
import { OTHER_CHANGES, type OtherChange } from './others.ts';

/** A change of the cluster while something does not work, and what others do to the kernel before it. */
export interface FaultyStep {
  readonly change: WalkStep;
  /** Services that stay as they were before the step. */
  readonly unchanged: readonly number[];
  readonly faults: readonly Fault[];
  readonly others: readonly OtherChange[];
  /** Another change that comes while the faults are still on. */
  readonly more: readonly ObjectJson[] | undefined;
  /** In that second pass, what was refused in the first is not tried. */
  readonly heldBack: boolean;
}

const SERVICES = [1, 2, 3];

export function anyFaultyStep(behaviours: readonly Behaviour[]): fc.Arbitrary<FaultyStep> {
  return fc.record({
    change: anyStep(behaviours),
    unchanged: fc.subarray(SERVICES),
    faults: fc.oneof(
      { weight: 3, arbitrary: fc.array(anyFault(), { minLength: 1, maxLength: 1 }) },
      { weight: 2, arbitrary: fc.array(anyFault(), { minLength: 2, maxLength: 2 }) },
    ),
    others: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(anyOtherChange(), { minLength: 1, maxLength: 3 }) },
    ),
    more: fc.option(
      anyStep(behaviours).map(({ objects }) => objects),
      { nil: undefined },
    ),
    heldBack: fc.boolean(),
  });
}

/** The objects of `after`, but for the Services that stay as in `before`. */
export function merge(
  before: readonly ObjectJson[],
  after: readonly ObjectJson[],
  unchanged: readonly number[],
): readonly ObjectJson[] {
  const stays = (object: ObjectJson) => unchanged.some((index) => belongsTo(object, index));
  return [...after.filter((object) => !stays(object)), ...before.filter(stays)];
}

/** A Service `shop/s1` with its slices `shop/s1-2`. */
function belongsTo({ metadata }: ObjectJson, index: number): boolean {
  const { name } = metadata as { readonly name: string };
  return name === `s${index}` || name.startsWith(`s${index}-`);
}

function anyFault(): fc.Arbitrary<Fault> {
  return fc.oneof(
    { weight: 5, arbitrary: faultOf(WRITERS, anyWriteFault()) },
    { weight: 2, arbitrary: faultOf(READERS, anyReadFault()) },
    { weight: 2, arbitrary: faultOf(['ipset writes'], anyRefusal(SET_COMMANDS)) },
    { weight: 2, arbitrary: faultOf(['ipvsadm writes'], anyRefusal(SERVER_COMMANDS)) },
  );
}

/** One line of the kind, or all of them. */
function anyRefusal(commands: readonly string[]): fc.Arbitrary<How> {
  return fc.record({
    kind: fc.constantFrom('refused' as const, 'all-refused' as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    of: fc.constantFrom(...commands),
  });
}

function faultOf(places: readonly Place[], how: fc.Arbitrary<How>): fc.Arbitrary<Fault> {
  return fc.record({
    at: fc.constantFrom(...places),
    how,
    spared: fc.constantFrom(0, 0, 0, 1, 2),
    times: fc.constantFrom(1, 2, ALWAYS),
  });
}

function anyWriteFault(): fc.Arbitrary<How> {
  return fc.oneof(
    fc.constantFrom<How>({ kind: 'missing' }, { kind: 'warning' }),
    fc.record({
      kind: fc.constantFrom('time-out' as const, 'killed' as const),
      share: fc.constantFrom(0, 0.3, 0.6, 1),
    }),
    fc.record({
      kind: fc.constantFrom('refused' as const, 'refused' as const, 'refused-anew' as const),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  );
}

function anyReadFault(): fc.Arbitrary<How> {
  return fc.constantFrom<How>(
    { kind: 'missing' },
    { kind: 'time-out', share: 0 },
    { kind: 'killed', share: 0 },
    { kind: 'refused', share: 0 },
    { kind: 'garbled' },
  );
}

function anyOtherChange(): fc.Arbitrary<OtherChange> {
  return fc.record({ kind: fc.constantFrom(...OTHER_CHANGES), pick: fc.nat(1000) });
}

const ALWAYS = 1_000_000;

/** How lines begin; `-`: every one of them. */
const SET_COMMANDS = [
  'create ',
  'create KUBE-EXCHANGE ',
  'create KUBE-6-EXCHANGE ',
  'destroy KUBE-EXCHANGE',
  'destroy KUBE-6-EXCHANGE',
  'swap ',
  'destroy ',
  'add ',
  'del ',
];
const SERVER_COMMANDS = ['-D ', '-d ', '-d ', '-e ', '-E ', '-'];

const WRITERS: readonly Place[] = [
  'ipvsadm writes',
  'ipvsadm writes',
  'ipset writes',
  'ipset writes',
  'ip writes',
  'iptables-restore writes',
  'ip6tables-restore writes',
];

const READERS: readonly Place[] = [
  'ipvsadm reads',
  'ipset reads',
  'ip reads',
  'iptables-save reads',
  'ip6tables-save reads',
  'conntrack reads',
  PROC_IPVS,
];
