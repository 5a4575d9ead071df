import { isIptablesModeChain, isIpvsModeChain, isSharedChain } from '../cleanup/chain-names.ts';
import { nftablesModeTables } from '../cleanup/nftables-mode.ts';
import type { EveryTable } from '../kernel/iptables/state.ts';
import { FAMILIES, type Family } from '../net/family.ts';
import { type NodeFacts, RULE_BACK_ENDS, type RuleBackEnd, type Wishes } from './facts.ts';
import { type Checked, found, NOTHING_FOUND, notChecked, together } from './finding.ts';
import { ownBackEnd } from './rule-back-end.ts';

type Facts = Pick<NodeFacts, 'proxier' | 'listening' | 'proxyMode' | 'rules' | 'nftTables' | 'tools' | 'ipvs'>;

/** Whether another proxy programs the node, or did. */
export function checkOtherProxies(facts: Facts, wishes: Pick<Wishes, 'ports'>): Checked {
  return together([
    checkLock(facts),
    checkPorts(facts, wishes),
    ...RULE_BACK_ENDS.flatMap((backEnd) => FAMILIES.map((family) => checkRules(facts, backEnd, family))),
    checkNftables(facts),
  ]);
}

function checkLock({ proxier }: Facts): Checked {
  if (!proxier.ok) return notChecked('whether an ipvs-proxier runs', proxier.error);
  if (!proxier.value) return NOTHING_FOUND;
  const { command, version, pid } = proxier.value;
  return found({
    level: 'note',
    id: 'proxier-running',
    saw: `ipvs-proxier runs: ${command}, version ${version}, process ${pid}`,
    matters: 'what it programs is its own and no leftover',
    remedy: 'ipvs-proxier status tells how it is',
  });
}

function checkPorts({ proxier, listening, proxyMode }: Facts, { ports }: Pick<Wishes, 'ports'>): Checked {
  const isOurs = proxyMode === 'ipvs' && proxier.ok && proxier.value !== undefined;
  if (proxyMode !== undefined && proxier.ok && !isOurs) {
    return found({
      level: 'error',
      id: 'other-proxy-running',
      saw: `another proxy runs, which answers ${proxyMode} for its mode`,
      matters: 'two proxies on one node undo what the other one does',
      remedy: 'take kube-proxy off this node first: a node selector on its DaemonSet, as the guide to migrate shows',
    });
  }
  if (!listening.ok) return notChecked('ports of the daemon', listening.error);
  if (!proxier.ok || proxier.value) return NOTHING_FOUND;
  return found(
    ...ports
      .filter(({ port }) => listening.value.has(port))
      .map(({ server, port }) => ({
        level: 'error' as const,
        id: 'port-in-use',
        saw: `TCP port ${port} is in use, and no ipvs-proxier runs`,
        matters: `the ${server} server of the daemon cannot listen; it may well be another proxy that does`,
        remedy: `ss -ltnp 'sport = :${port}' shows who it is; or set ${server === 'health' ? 'healthz' : 'metrics'}BindAddress`,
      })),
  );
}

function checkRules(facts: Facts, backEnd: RuleBackEnd, family: Family): Checked {
  const read = facts.rules[backEnd][family];
  if (!read.ok) return notChecked(`leftovers in ${family} rules of the ${backEnd} back end`, read.error);
  const own = backEnd === ownBackEnd(facts);
  const ofIptables = chainsOf(
    read.value,
    (table, chain) => isIptablesModeChain(table, chain) && !isSharedChain(table, chain),
  );
  const ofIpvs = own ? [] : chainsOf(read.value, isIpvsModeChain);
  const where = `${family} rules of the ${backEnd} back end`;
  if (ofIptables.length > 0) {
    return found({
      level: 'warning',
      id: 'iptables-mode-left',
      saw: `${where} have ${ofIptables.length} chains of kube-proxy in iptables mode, e.g. ${ofIptables[0]}`,
      matters: 'they come before IPVS and send connections to endpoints that may be gone, or refuse them',
      remedy: own
        ? 'ipvs-proxier cleanup --of iptables, once kube-proxy has gone and this proxy runs'
        : `IPTABLES_BACKEND=${backEnd} ipvs-proxier cleanup --of iptables in our image; elsewhere with the iptables of that back end first on PATH`,
    });
  }
  if (ofIpvs.length === 0) return NOTHING_FOUND;
  return found({
    level: 'warning',
    id: 'ipvs-mode-left-elsewhere',
    saw: `${where} have ${ofIpvs.length} chains of ipvs mode, e.g. ${ofIpvs[0]}; iptables uses the other one here`,
    matters: 'nobody keeps them up to date, and the kernel asks them all the same',
    remedy: `IPTABLES_BACKEND=${backEnd} ipvs-proxier cleanup in our image; elsewhere with the iptables of that back end first on PATH`,
  });
}

function chainsOf(tables: EveryTable, isLeft: (table: string, chain: string) => boolean): readonly string[] {
  return [...tables].flatMap(([table, chains]) => [...chains.keys()].filter((chain) => isLeft(table, chain)));
}

function checkNftables({ nftTables }: Facts): Checked {
  if (!nftTables.ok) return notChecked('tables of nftables mode', nftTables.error);
  const families = nftablesModeTables(nftTables.value);
  if (families.length === 0) return NOTHING_FOUND;
  return found({
    level: 'warning',
    id: 'nftables-mode-left',
    saw: `${families.join(' and ')}: table kube-proxy of nftables mode`,
    matters: 'its rules send connections to endpoints that may be gone, or refuse them',
    remedy: 'ipvs-proxier cleanup --of nftables, once kube-proxy has gone',
  });
}
