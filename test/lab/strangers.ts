import { expect } from 'chai';
import type { Lab } from './lab.ts';

/**
 * What others may have on a node: a virtual server, an address on our interface, sets, chains that lead to ours and look into our sets, and
 * what kubelet makes. IPv4 and IPv6.
 */
const SCRIPT = [
  'set -e',
  'ipvsadm -A -t 198.51.100.9:25 -s wlc',
  'ipvsadm -a -t 198.51.100.9:25 -r 192.0.2.25:25 -m',
  'ip address add 192.0.2.77/32 dev kube-ipvs0',
  'ipset create OTHERS hash:ip',
  'ipset add OTHERS 192.0.2.1',
  'ipset create KUBE-OTHERS list:set',
  'ipset add KUBE-OTHERS KUBE-NODE-PORT-UDP',
  ...['iptables', 'ip6tables'].flatMap((tool) => [
    `${tool} -t nat -N OTHERS`,
    `${tool} -t nat -A OTHERS -p tcp --dport 9999 -j KUBE-MARK-MASQ`,
    `${tool} -t nat -I PREROUTING -j OTHERS`,
    `${tool} -t nat -N KUBE-MARK-DROP`,
    `${tool} -t nat -A KUBE-MARK-DROP -j MARK --or-mark 0x8000`,
    `${tool} -N KUBE-FIREWALL`,
    `${tool} -A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP`,
    `${tool} -A OUTPUT -j KUBE-FIREWALL`,
    ...['mangle', 'nat', 'filter'].map((table) => `${tool} -t ${table} -N KUBE-KUBELET-CANARY`),
  ]),
  'iptables -t mangle -A PREROUTING -m set --match-set KUBE-CLUSTER-IP dst,dst -j MARK --set-mark 0x1',
].join('\n');

export async function addStrangers(lab: Lab, node: string): Promise<void> {
  await lab.output(node, 'sh', ['-c', SCRIPT]);
}

/** Everything of theirs is as it was made. */
export async function expectStrangers(lab: Lab, node: string): Promise<void> {
  const read = (...words: readonly string[]) => lab.output(node, words[0] ?? '', words.slice(1));
  expect(await read('ipvsadm', '-Sn')).to.include(
    '-A -t 198.51.100.9:25 -s wlc\n-a -t 198.51.100.9:25 -r 192.0.2.25:25 -m -w 1\n',
  );
  expect(await read('ip', '-o', 'address', 'show', 'dev', 'kube-ipvs0')).to.include(' 192.0.2.77/32 ');
  const sets = await read('ipset', 'save');
  expect(sets).to.include('add OTHERS 192.0.2.1\n');
  expect(sets).to.include('add KUBE-OTHERS KUBE-NODE-PORT-UDP\n');
  for (const tool of ['iptables-save', 'ip6tables-save']) {
    const rules = await read(tool);
    for (const rule of [
      '-A OTHERS -p tcp -m tcp --dport 9999 -j KUBE-MARK-MASQ',
      '-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000',
      '-A PREROUTING -j OTHERS',
      '-A KUBE-MARK-DROP -j MARK --set-xmark 0x8000/0x8000',
      '-A KUBE-FIREWALL -m mark --mark 0x8000/0x8000 -j DROP',
      '-A OUTPUT -j KUBE-FIREWALL',
    ]) {
      expect(rules, tool).to.include(`${rule}\n`);
    }
    expect(rules.match(/^:KUBE-KUBELET-CANARY /gm), tool).to.have.lengthOf(3);
  }
  const marking = '-A PREROUTING -m set --match-set KUBE-CLUSTER-IP dst,dst -j MARK --set-xmark 0x1/0xffffffff\n';
  expect(await read('iptables-save', '-t', 'mangle')).to.include(marking);
}
