import { checkAddresses } from './check-addresses.ts';
import { checkApiServer } from './check-api-server.ts';
import { checkBackEnds } from './check-back-ends.ts';
import { checkForwarding } from './check-forwarding.ts';
import { checkInterface } from './check-interface.ts';
import { checkKernel } from './check-kernel.ts';
import { checkOtherProxies } from './check-other-proxies.ts';
import { checkSysctls } from './check-sysctls.ts';
import { checkTables } from './check-tables.ts';
import { checkTools } from './check-tools.ts';
import type { NodeFacts, Wishes } from './facts.ts';
import { type Checked, together } from './finding.ts';

export const GROUPS = [
  'kernel',
  'tools',
  'settings',
  'other proxies',
  'addresses',
  'tables of the kernel',
  'API server',
] as const;
export type Group = (typeof GROUPS)[number];

export interface Examination {
  readonly group: Group;
  readonly checked: Checked;
}

/** Every check, by what it is about, in the order of `GROUPS`. */
export function examine(facts: NodeFacts, wishes: Wishes): readonly Examination[] {
  const checks: Readonly<Record<Group, readonly Checked[]>> = {
    kernel: [checkKernel(facts, wishes)],
    tools: [checkTools(facts), checkBackEnds(facts)],
    settings: [checkSysctls(facts, wishes), checkForwarding(facts, wishes)],
    'other proxies': [checkOtherProxies(facts, wishes), checkInterface(facts)],
    addresses: [checkAddresses(facts, wishes)],
    'tables of the kernel': [checkTables(facts)],
    'API server': [checkApiServer(facts)],
  };
  return GROUPS.map((group) => ({ group, checked: together(checks[group]) }));
}
