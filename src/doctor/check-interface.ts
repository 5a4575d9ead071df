import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';
import type { NodeFacts } from './facts.ts';
import { type Checked, type Finding, found, NOTHING_FOUND, notChecked } from './finding.ts';

type Facts = Pick<NodeFacts, 'links' | 'ipvs' | 'proxier'>;

/** What `kube-ipvs0` is, and whose. */
export function checkInterface({ links, ipvs, proxier }: Facts): Checked {
  if (!links.ok) return notChecked(DUMMY_INTERFACE, links.error);
  const link = links.value.find(({ name }) => name === DUMMY_INTERFACE);
  if (!link) return NOTHING_FOUND;
  const findings: Finding[] = [];
  if (link.kind !== 'dummy') {
    findings.push({
      level: 'error',
      id: 'interface-not-dummy',
      saw: `${DUMMY_INTERFACE} is of kind ${link.kind}, not dummy: somebody else has made it`,
      matters: 'addresses of Services would be bound where packets for them leave the node; cleanup does not remove it',
      remedy: `ip link delete ${DUMMY_INTERFACE}, once it is clear who made it; the daemon makes its own`,
    });
  }
  if (link.kind === 'dummy' && !link.flags.includes('NOARP')) {
    findings.push({
      level: 'warning',
      id: 'interface-answers-arp',
      saw: `${DUMMY_INTERFACE} lacks the flag NOARP`,
      matters: 'a dummy interface has it from the start, so somebody has changed this one',
      remedy: `ip link set ${DUMMY_INTERFACE} arp off`,
    });
  }
  const isProgrammed = proxier.ok && proxier.value !== undefined;
  if (proxier.ok && !isProgrammed && link.addresses.length > 0) {
    const servers = ipvs.ok
      ? `${ipvs.value?.servers.size ?? 0} virtual servers`
      : 'virtual servers that cannot be read';
    findings.push({
      level: 'note',
      id: 'ipvs-mode-left',
      saw: `${DUMMY_INTERFACE} has ${link.addresses.length} addresses, beside ${servers}, and no ipvs-proxier runs`,
      matters:
        'a proxy in ipvs mode has programmed this node; the daemon takes over what is there, and connections go on',
      remedy: 'nothing, to go on with ipvs mode; else ipvs-proxier cleanup',
    });
  }
  return found(...findings);
}
