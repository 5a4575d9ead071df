import { AFFINITY } from './affinity.ts';
import { CONNTRACK } from './conntrack.ts';
import { DISTRIBUTION } from './distribution.ts';
import { DUAL_STACK } from './dual-stack.ts';
import { GRANULAR } from './granular.ts';
import { LABELS } from './labels.ts';
import { LOAD_BALANCERS } from './load-balancers.ts';
import { POLICIES } from './policies.ts';
import { PROGRAM } from './program.ts';
import { READINESS } from './readiness.ts';
import type { Scenario } from './scenario.ts';
import { SERVICES } from './services.ts';
import { SLICES } from './slices.ts';
import { SOURCE_ADDRESSES } from './source-addresses.ts';
import { TYPES } from './types.ts';

/** All of them. */
export const SCENARIOS: readonly Scenario[] = [
  SERVICES,
  TYPES,
  AFFINITY,
  SLICES,
  SOURCE_ADDRESSES,
  READINESS,
  POLICIES,
  LABELS,
  GRANULAR,
  CONNTRACK,
  DISTRIBUTION,
  DUAL_STACK,
  LOAD_BALANCERS,
  PROGRAM,
].flat();
