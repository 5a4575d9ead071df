import type { ChangeKind, Level, ServiceChange } from './change.ts';
import type { LevelThresholds } from './settings.ts';

/** What one event changes in one Service, as numbers. An endpoint is one address, whatever the number of its ports. */
export interface ChangeFacts {
  /** `namespace/name`. */
  readonly service: string;
  /** What happened to the Service itself; `same` when only its endpoints changed. */
  readonly object: 'added' | 'removed' | 'changed' | 'same';
  readonly totalBefore: number;
  readonly totalAfter: number;
  readonly usableBefore: number;
  readonly usableAfter: number;
  /** Endpoints that appear, disappear, or change their usability or a port. */
  readonly changedEndpoints: number;
  /** Usable before and not after, whether still there or not. */
  readonly usableWent: number;
  /** Usable after and not before, whether there before or not. */
  readonly usableCame: number;
  /** Of `usableWent`, those that are still there. */
  readonly turnedUnusable: number;
  /** Of `usableCame`, those that were there before. */
  readonly turnedUsable: number;
  /** Some endpoint that stays has other ports. */
  readonly portsChanged: boolean;
  /** Some address appears or disappears. */
  readonly addressesChanged: boolean;
}

/** How urgent a material change is, and why. */
export function classify(facts: ChangeFacts, thresholds: LevelThresholds): ServiceChange {
  const readyBefore = readyRatio(facts.usableBefore, facts.totalBefore);
  const readyAfter = readyRatio(facts.usableAfter, facts.totalAfter);
  const magnitude = magnitudeOf(facts, Math.abs(readyAfter - readyBefore));
  const level = levelOf(facts, readyAfter, magnitude, thresholds);
  return { service: facts.service, kind: kindOf(facts), readyBefore, readyAfter, magnitude, level };
}

function readyRatio(usable: number, total: number): number {
  return total === 0 ? 1 : usable / total;
}

/** Replacing all endpoints changes twice as many as there are, so the quotient is bounded. */
function magnitudeOf({ changedEndpoints, totalBefore, totalAfter }: ChangeFacts, ratioChange: number): number {
  const most = Math.max(totalBefore, totalAfter);
  return most === 0 ? 0 : Math.max(ratioChange, Math.min(1, changedEndpoints / most));
}

/**
 * Readiness changes when an endpoint that stays changes it, or when more or fewer are usable than before. As many usable ones at other
 * addresses, such as a pod that was recreated, are an update of addresses.
 */
function kindOf(facts: ChangeFacts): ChangeKind {
  if (facts.object !== 'same') return `service-${facts.object}`;
  if (facts.turnedUnusable > 0 || facts.usableAfter < facts.usableBefore) return 'ready-to-not-ready';
  if (facts.turnedUsable > 0 || facts.usableAfter > facts.usableBefore) return 'not-ready-to-ready';
  if (facts.portsChanged) return 'port-update';
  return facts.addressesChanged ? 'address-update' : 'minor';
}

function levelOf(facts: ChangeFacts, readyAfter: number, magnitude: number, given: LevelThresholds): Level {
  const { object, usableBefore, usableAfter, usableWent, usableCame } = facts;
  const isFirstOrLast = (usableBefore === 0) !== (usableAfter === 0);
  const isScarce = usableWent + usableCame > 0 && readyAfter < given.criticalBelowReadyRatio;
  if (object === 'added' || object === 'removed' || isFirstOrLast || isScarce) return 'critical';
  if (magnitude > given.criticalAboveMagnitude) return 'critical';
  if (object === 'changed' || usableWent > 0 || facts.portsChanged) return 'high';
  if (readyAfter < given.highBelowReadyRatio || magnitude > given.highAboveMagnitude) return 'high';
  return magnitude > given.normalAboveMagnitude ? 'normal' : 'low';
}
