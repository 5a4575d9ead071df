import type { Scenario } from './scenario.ts';
import { SERVICES } from './services.ts';

/** All of them, in the order of the tables. */
export const SCENARIOS: readonly Scenario[] = [...SERVICES];
