import { type SetId, setComment, setName } from '../kernel/ipset/definitions.ts';
import type { Match, Rule, Target } from '../kernel/iptables/rule.ts';
import type { Family } from '../net/family.ts';
import type { LocalDetector } from './node-inputs.ts';
import type { RuleInputs } from './rule-inputs.ts';

export function rule(matches: readonly Match[], target: Target): Rule {
  return { matches, target };
}

/** A match for the set, with the comment that explains it in front. */
export function named(id: SetId, family: Family, directions: string): readonly Match[] {
  return [{ kind: 'comment', text: setComment(id) }, inSet(id, family, directions)];
}

export function inSet(id: SetId, family: Family, directions: string): Match {
  return { kind: 'set', name: setName(id, family), directions };
}

export function ifFilled(
  { filled }: Pick<RuleInputs, 'filled'>,
  id: SetId,
  rules: (id: SetId) => readonly Rule[],
): readonly Rule[] {
  return filled.has(id) ? rules(id) : [];
}

/** Rules that kube-proxy does not have. */
export function ifDocumented({ behaviour }: Pick<RuleInputs, 'behaviour'>, rules: readonly Rule[]): readonly Rule[] {
  return behaviour === 'documented' ? rules : [];
}

/** Traffic that does not come from Pods of this cluster, as far as the detector tells; stands first in a rule. */
export function notFromPods(detector: LocalDetector): Match {
  return detector.kind === 'source'
    ? { kind: 'source', of: detector.cidr, negated: true }
    : { kind: 'input-interface', name: detector.name, negated: true };
}

export function jumpTo(chain: string): Target {
  return { kind: 'jump', chain };
}

export const ACCEPT: Target = { kind: 'accept' };
export const RETURN: Target = { kind: 'return' };
export const DROP: Target = { kind: 'drop' };
export const MARK: Target = jumpTo('KUBE-MARK-MASQ');
export const NEW: Match = { kind: 'state', states: 'NEW' };
export const FROM_NODE: Match = { kind: 'source-local', negated: false };
export const NOT_FROM_NODE: Match = { kind: 'source-local', negated: true };
export const TO_NODE: Match = { kind: 'destination-local' };
