import type { EveryTable } from '../kernel/iptables/state.ts';
import { FAMILIES, type Family } from '../net/family.ts';
import type { NodeFacts, RuleBackEnd } from './facts.ts';
import { type Checked, found, NOTHING_FOUND, notChecked, together } from './finding.ts';
import { otherBackEnd, ownBackEnd } from './rule-back-end.ts';

type Facts = Pick<NodeFacts, 'rules' | 'tools' | 'ruleLock'>;

/** Whether the other rules of the node are where the daemon's own will be: the kernel has two sets of tables, and asks both. */
export function checkBackEnds(facts: Facts): Checked {
  const own = ownBackEnd(facts);
  if (own === undefined) return notChecked('the back end of iptables', 'iptables does not tell its version');
  return together([checkLock(facts), ...FAMILIES.map((family) => checkFamily(facts, family, own))]);
}

function checkLock({ ruleLock }: Facts): Checked {
  if (ruleLock === undefined) return NOTHING_FOUND;
  return found({
    level: 'warning',
    id: 'rule-lock-not-shared',
    saw: '/run/xtables.lock is a file of this container, not of the node',
    matters: 'the kubelet and network plugins may overwrite rules while they are written, and the other way round',
    remedy: 'mount the file of the host there, as the manifests do',
  });
}

function checkFamily({ rules }: Facts, family: Family, own: RuleBackEnd): Checked {
  const other = otherBackEnd(own);
  const [ours, theirs] = [rules[own][family], rules[other][family]];
  if (!theirs.ok) return notChecked(`${family} rules of the ${other} back end`, theirs.error);
  const count = countRules(theirs.value);
  if (count === 0) return NOTHING_FOUND;
  if (!ours.ok) return notChecked(`${family} rules of the ${own} back end`, ours.error);
  const matters =
    'the kernel asks both: what one of them drops or masquerades is so whatever the other says, and neither shows the rules of the other';
  const isElsewhere = (hasHint(theirs.value) && !hasHint(ours.value)) || countRules(ours.value) === 0;
  const tool = family === 'IPv4' ? 'iptables' : 'ip6tables';
  if (!isElsewhere) {
    const saw = `${family} rules are in both back ends: ${countRules(ours.value)} in ${own}, which iptables uses here, ${count} in ${other}`;
    const remedy = `see what they are: ${tool}-${other}-save`;
    return found({ level: 'note', id: 'rules-in-both-back-ends', saw, matters, remedy });
  }
  const saw = `${count} ${family} rules of the node are in the ${other} back end, and iptables uses ${own} here`;
  const remedy = `use the same: update-alternatives --set ${tool} /usr/sbin/${tool}-${other}`;
  return found({ level: 'warning', id: 'rules-in-other-back-end', saw, matters, remedy });
}

function countRules(tables: EveryTable): number {
  return [...tables.values()].flatMap((chains) => [...chains.values()]).reduce((sum, rules) => sum + rules.length, 0);
}

/** Where the kubelet has its rules, the node's other programs have theirs. */
function hasHint(tables: EveryTable): boolean {
  const mangle = tables.get('mangle');
  return HINTS.some((chain) => mangle?.has(chain));
}

const HINTS = ['KUBE-IPTABLES-HINT', 'KUBE-KUBELET-CANARY'];
