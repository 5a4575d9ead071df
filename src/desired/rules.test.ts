import { expect } from 'chai';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { KUBE_PROXY_SETS, SET_DEFINITIONS, type SetId, setName } from '../kernel/ipset/definitions.ts';
import type { Family } from '../net/family.ts';
import type { RuleInputs } from './rule-inputs.ts';
import { wantedTables } from './rules.ts';

const EVERY_SET = new Set(SET_DEFINITIONS.map(({ id }) => id));

/** Rules of every chain as iptables-save prints them, all sets having entries; `ClusterCIDR` tells Pods from others. */
const GOLDEN = {
  nat: {
    'KUBE-SERVICES': [
      '-s 127.0.0.0/8 -j RETURN',
      '-m comment --comment "Kubernetes service lb portal" -m set --match-set KUBE-LOAD-BALANCER dst,dst -j KUBE-LOAD-BALANCER',
      '! -s 10.180.0.0/16 -m comment --comment "Kubernetes service cluster ip + port for masquerade purpose" -m set --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-MARK-MASQ',
      '-m comment --comment "Kubernetes service external ip + port for masquerade and filter purpose" -m set --match-set KUBE-EXTERNAL-IP dst,dst -j KUBE-MARK-MASQ',
      '-m comment --comment "Kubernetes service external ip + port for masquerade and filter purpose" -m set --match-set KUBE-EXTERNAL-IP dst,dst -m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j ACCEPT',
      '-m comment --comment "Kubernetes service external ip + port for masquerade and filter purpose" -m set --match-set KUBE-EXTERNAL-IP dst,dst -m addrtype --dst-type LOCAL -j ACCEPT',
      '-m comment --comment "Kubernetes service external ip + port with externalTrafficPolicy=local" -m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j ACCEPT',
      '-m comment --comment "Kubernetes service external ip + port with externalTrafficPolicy=local" -m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -m addrtype --dst-type LOCAL -j ACCEPT',
      '-m addrtype --dst-type LOCAL -j KUBE-NODE-PORT',
      '-m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT',
      '-m set --match-set KUBE-LOAD-BALANCER dst,dst -j ACCEPT',
    ],
    'KUBE-POSTROUTING': [
      '-m comment --comment "Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose" -m set --match-set KUBE-LOOP-BACK dst,dst,src -j MASQUERADE',
      '-m mark ! --mark 0x4000/0x4000 -j RETURN',
      '-j MARK --set-xmark 0x4000/0x0',
      '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
    ],
    'KUBE-NODE-PORT': [
      '-p tcp -m comment --comment "Kubernetes nodeport TCP port with externalTrafficPolicy=local" -m set --match-set KUBE-NODE-PORT-LOCAL-TCP dst -j RETURN',
      '-p tcp -m comment --comment "Kubernetes nodeport TCP port for masquerade purpose" -m set --match-set KUBE-NODE-PORT-TCP dst -j KUBE-MARK-MASQ',
      '-p udp -m comment --comment "Kubernetes nodeport UDP port with externalTrafficPolicy=local" -m set --match-set KUBE-NODE-PORT-LOCAL-UDP dst -j RETURN',
      '-p udp -m comment --comment "Kubernetes nodeport UDP port for masquerade purpose" -m set --match-set KUBE-NODE-PORT-UDP dst -j KUBE-MARK-MASQ',
      `-p sctp -m comment --comment "Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type \\'hash ip:port\\'" -m set --match-set KUBE-NODE-PORT-LOCAL-SCTP-HASH dst,dst -j RETURN`,
      `-p sctp -m comment --comment "Kubernetes nodeport SCTP port for masquerade purpose with type \\'hash ip:port\\'" -m set --match-set KUBE-NODE-PORT-SCTP-HASH dst,dst -j KUBE-MARK-MASQ`,
    ],
    'KUBE-LOAD-BALANCER': [
      '-m comment --comment "Kubernetes service load balancer ip + port with externalTrafficPolicy=local" -m set --match-set KUBE-LOAD-BALANCER-LOCAL dst,dst -j RETURN',
      '-j KUBE-MARK-MASQ',
    ],
    'KUBE-MARK-MASQ': ['-j MARK --set-xmark 0x4000/0x4000'],
  },
  filter: {
    'KUBE-FORWARD': [
      '-m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT',
      '-m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    ],
    'KUBE-NODE-PORT': [
      '-m comment --comment "Kubernetes health check node port" -m set --match-set KUBE-HEALTH-CHECK-NODE-PORT dst -j ACCEPT',
    ],
    'KUBE-PROXY-FIREWALL': [
      '-m comment --comment "Kubernetes service load balancer ip + port for load balancer with sourceRange" -m set --match-set KUBE-LOAD-BALANCER-FW dst,dst -j KUBE-SOURCE-RANGES-FIREWALL',
    ],
    'KUBE-SOURCE-RANGES-FIREWALL': [
      '-m comment --comment "Kubernetes service load balancer ip + port + source cidr for packet filter purpose" -m set --match-set KUBE-LOAD-BALANCER-SOURCE-CIDR dst,dst,src -j RETURN',
      '-m comment --comment "Kubernetes service load balancer ip + port + source IP for packet filter purpose" -m set --match-set KUBE-LOAD-BALANCER-SOURCE-IP dst,dst,src -j RETURN',
      '-j DROP',
    ],
    'KUBE-IPVS-FILTER': [
      '-m set --match-set KUBE-LOAD-BALANCER dst,dst -j RETURN',
      '-m set --match-set KUBE-CLUSTER-IP dst,dst -j RETURN',
      '-m set --match-set KUBE-EXTERNAL-IP dst,dst -j RETURN',
      '-m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j RETURN',
      '-m set --match-set KUBE-HEALTH-CHECK-NODE-PORT dst -j RETURN',
      '-m conntrack --ctstate NEW -m set --match-set KUBE-IPVS-IPS dst -j REJECT --reject-with icmp-port-unreachable',
    ],
    'KUBE-IPVS-OUT-FILTER': ['-s 203.0.113.9/32 -m ipvs --vproto 6 --vaddr 203.0.113.9 --vport 80 -j DROP'],
  },
};

/** What stays of the chains when no set has entries and no address is closed to the node. */
const GOLDEN_EMPTY = {
  nat: {
    'KUBE-SERVICES': ['-s 127.0.0.0/8 -j RETURN', '-m addrtype --dst-type LOCAL -j KUBE-NODE-PORT'],
    'KUBE-POSTROUTING': GOLDEN.nat['KUBE-POSTROUTING'].slice(1),
    'KUBE-NODE-PORT': [],
    'KUBE-LOAD-BALANCER': ['-j KUBE-MARK-MASQ'],
    'KUBE-MARK-MASQ': GOLDEN.nat['KUBE-MARK-MASQ'],
  },
  filter: {
    'KUBE-FORWARD': GOLDEN.filter['KUBE-FORWARD'],
    'KUBE-NODE-PORT': GOLDEN.filter['KUBE-NODE-PORT'],
    'KUBE-PROXY-FIREWALL': [],
    'KUBE-SOURCE-RANGES-FIREWALL': ['-j DROP'],
    'KUBE-IPVS-FILTER': GOLDEN.filter['KUBE-IPVS-FILTER'],
    'KUBE-IPVS-OUT-FILTER': [],
  },
};

describe('desired/rules', () => {
  it('has all IPv4 chains with all rules when every set has entries', () =>
    expect(chainsOf('IPv4')).to.deep.equal(GOLDEN));

  it('has the same rules for IPv6, in the words of that family', () => {
    const inputs = {
      detector: { kind: 'source', cidr: cidr('fd00:180::/48') },
      closedToNode: [closed('fd00:203::9')],
    } as const;
    const text = JSON.stringify(GOLDEN)
      .replaceAll(/--match-set KUBE-(\S+)/g, (_, id: SetId) => `--match-set ${setName(id, 'IPv6')}`)
      .replaceAll('127.0.0.0/8', '::1/128')
      .replaceAll('10.180.0.0/16', 'fd00:180::/48')
      .replaceAll('203.0.113.9/32', 'fd00:203::9/128')
      .replaceAll('203.0.113.9', 'fd00:203::9')
      .replaceAll('icmp-', 'icmp6-');
    expect(chainsOf('IPv6', inputs)).to.deep.equal(JSON.parse(text));
  });

  it('leaves out the rules of empty sets, but for those that are always there', () => {
    expect(chainsOf('IPv4', { filled: new Set(), closedToNode: [] })).to.deep.equal(GOLDEN_EMPTY);
  });

  it('jumps from the built-in chains, in the order that puts them where kube-proxy has them', () => {
    const jumps = wantedTables(inputsFor('IPv4', {}));
    const written = (['nat', 'filter'] as const).flatMap((table) =>
      jumps[table].jumps.map(({ from, rule }) => `${table} ${from} ${rule}`),
    );
    expect(written).to.deep.equal([
      'nat OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      'nat PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      'nat POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
      'filter FORWARD -m comment --comment "kubernetes forwarding rules" -j KUBE-FORWARD',
      'filter INPUT -m comment --comment "kubernetes health check rules" -j KUBE-NODE-PORT',
      'filter INPUT -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL',
      'filter FORWARD -m comment --comment "kube-proxy firewall rules" -j KUBE-PROXY-FIREWALL',
      'filter INPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-FILTER',
      'filter OUTPUT -m comment --comment "kubernetes ipvs access filter" -j KUBE-IPVS-OUT-FILTER',
    ]);
  });

  const comment =
    '-m comment --comment "Kubernetes service cluster ip + port for masquerade purpose" -m set --match-set KUBE-CLUSTER-IP';
  const masquerading: readonly (readonly [string, Partial<RuleInputs>, string])[] = [
    ['whatever is not from the cluster range', {}, `! -s 10.180.0.0/16 ${comment} dst,dst`],
    [
      'whatever does not come over the bridge',
      { detector: { kind: 'interface', name: 'cni0' } },
      `! -i cni0 ${comment} dst,dst`,
    ],
    [
      'whatever does not come over such an interface',
      { detector: { kind: 'interface', name: 'veth+' } },
      `! -i veth+ ${comment} dst,dst`,
    ],
    ['only what a process of the node sends when Pods cannot be told', { detector: undefined }, `${comment} src,dst`],
    ['everything when asked to, Pods or not', { masqueradeAll: true }, `${comment} dst,dst`],
    [
      'everything when asked to and Pods cannot be told',
      { masqueradeAll: true, detector: undefined },
      `${comment} dst,dst`,
    ],
  ];
  for (const [name, given, match] of masquerading) {
    it(`masquerades traffic to cluster addresses: ${name}`, () => {
      const marking = chainsOf('IPv4', given).nat['KUBE-SERVICES']?.filter(
        (rule) => rule.includes('KUBE-CLUSTER-IP') && rule.endsWith('MASQ'),
      );
      expect(marking).to.deep.equal([`${match} -j KUBE-MARK-MASQ`]);
    });
  }

  for (const [bit, mark] of [
    [0, '0x1'],
    [14, '0x4000'],
    [31, '0x80000000'],
  ] as const) {
    it(`marks with bit ${bit} and with no other`, () => {
      const text = JSON.stringify(chainsOf('IPv4', { mark: 2 ** bit }));
      const marks = [...text.matchAll(/mark (0x[0-9a-f]+)\/(0x[0-9a-f]+)/g)].map(
        ([, value, mask]) => `${value}/${mask}`,
      );
      expect(marks).to.deep.equal([`${mark}/${mark}`, `${mark}/0x0`, `${mark}/${mark}`, `${mark}/${mark}`]);
    });
  }

  it('masquerades without random ports where iptables does not know them', () => {
    const rules = chainsOf('IPv4', { randomFully: false }).nat['KUBE-POSTROUTING'];
    expect(rules?.at(-1)).to.equal('-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE');
  });

  it('closes each address to the node by its own protocol and port', () => {
    const rules = chainsOf('IPv4', { closedToNode: [closed('203.0.113.9', 'UDP', 53), closed('203.0.113.8', 'SCTP')] });
    expect(rules.filter['KUBE-IPVS-OUT-FILTER']).to.deep.equal([
      '-s 203.0.113.9/32 -m ipvs --vproto 17 --vaddr 203.0.113.9 --vport 53 -j DROP',
      '-s 203.0.113.8/32 -m ipvs --vproto 132 --vaddr 203.0.113.8 --vport 80 -j DROP',
    ]);
  });

  for (const [behaviour, definitions] of [
    ['kube-proxy', KUBE_PROXY_SETS],
    ['documented', SET_DEFINITIONS],
  ] as const) {
    it(`uses no set that is not there, and every set that is, under behaviour ${behaviour}`, () => {
      for (const family of ['IPv4', 'IPv6'] as const) {
        const text = JSON.stringify(chainsOf(family, { behaviour }));
        const used = new Set([...text.matchAll(/--match-set (\S+)/g)].map(([, name]) => name));
        expect([...used].sort()).to.deep.equal(definitions.map(({ id }) => setName(id, family)).sort());
      }
    });
  }

  describe('under behaviour documented', () => {
    const documented = chainsOf('IPv4', { behaviour: 'documented' });
    const added = (table: 'nat' | 'filter', chain: string, rules = documented) =>
      rules[table][chain]?.filter((rule) => !(chainsOf('IPv4')[table][chain] ?? []).includes(rule));

    const outside =
      '-m comment --comment "Kubernetes external ip + port with externalTrafficPolicy=local and no local endpoint"';

    it('masquerades the node at addresses under policy Local, whose clients outside keep theirs', () => {
      const fromNode = (text: string, set: string, directions: string) =>
        `-m comment --comment "${text}" -m set --match-set ${set} ${directions} -m addrtype --src-type LOCAL -j KUBE-MARK-MASQ`;
      const nodePort = (protocol: string) => `Kubernetes nodeport ${protocol} port with externalTrafficPolicy=local`;
      expect(added('nat', 'KUBE-LOAD-BALANCER')).to.deep.equal([
        fromNode(
          'Kubernetes service load balancer ip + port with externalTrafficPolicy=local',
          'KUBE-LOAD-BALANCER-LOCAL',
          'dst,dst',
        ),
      ]);
      expect(added('nat', 'KUBE-SERVICES')?.slice(1)).to.deep.equal([
        fromNode(
          'Kubernetes service external ip + port with externalTrafficPolicy=local',
          'KUBE-EXTERNAL-IP-LOCAL',
          'dst,dst',
        ),
      ]);
      expect(added('nat', 'KUBE-NODE-PORT')).to.deep.equal([
        `-p tcp ${fromNode(nodePort('TCP'), 'KUBE-NODE-PORT-LOCAL-TCP', 'dst')}`,
        `-p udp ${fromNode(nodePort('UDP'), 'KUBE-NODE-PORT-LOCAL-UDP', 'dst')}`,
        `-p sctp ${fromNode(`${nodePort('SCTP')} with type \\'hash ip:port\\'`, 'KUBE-NODE-PORT-LOCAL-SCTP-HASH', 'dst,dst')}`,
      ]);
    });

    it('masquerades all but the own Pods where policy Local finds no local endpoint, and all where those are not known', () => {
      const marked = (given: Partial<RuleInputs>) =>
        chainsOf('IPv4', { behaviour: 'documented', ...given }).nat['KUBE-SERVICES']?.filter((rule) =>
          rule.includes('EXTERNAL-NO-LOCAL'),
        );
      const mark = `${outside} -m set --match-set KUBE-EXTERNAL-NO-LOCAL dst,dst -j KUBE-MARK-MASQ`;
      const bridge = { kind: 'interface', name: 'cni0' } as const;
      expect(marked({})).to.deep.equal([`! -s 10.180.0.0/24 ${mark}`]);
      expect(marked({ ownPods: undefined })).to.deep.equal([mark]);
      expect(marked({ detector: bridge, ownPods: bridge })).to.deep.equal([`! -i cni0 ${mark}`]);
      expect(marked({ detector: undefined })).to.deep.equal([]);
    });

    it('marks before it returns or accepts', () => {
      for (const chain of ['KUBE-LOAD-BALANCER', 'KUBE-SERVICES', 'KUBE-NODE-PORT']) {
        const rules = documented.nat[chain] ?? [];
        for (const rule of added('nat', chain) ?? []) {
          const [, set = ''] = /--match-set (\S+)/.exec(rule) ?? [];
          const first = rules.find((each) => each.includes(`--match-set ${set} `));
          expect(first).to.equal(rule);
        }
      }
    });

    const inside =
      '-m comment --comment "Kubernetes service cluster ip + port with internalTrafficPolicy=local and no local endpoint"';
    const dropInside = `${inside} -m set --match-set KUBE-CLUSTER-IP-NO-LOCAL dst,dst -m conntrack --ctstate NEW -j DROP`;
    const dropOutside = `${outside} -m set --match-set KUBE-EXTERNAL-NO-LOCAL dst,dst -m addrtype ! --src-type LOCAL -m conntrack --ctstate NEW -j DROP`;

    it('drops new connections where policy Local finds no local endpoint: of all inside, of others than Pods and the node outside', () => {
      expect(added('filter', 'KUBE-PROXY-FIREWALL')).to.deep.equal([dropInside, `! -s 10.180.0.0/16 ${dropOutside}`]);
      const byBridge = chainsOf('IPv4', { behaviour: 'documented', detector: { kind: 'interface', name: 'cni0' } });
      expect(added('filter', 'KUBE-PROXY-FIREWALL', byBridge)).to.deep.equal([dropInside, `! -i cni0 ${dropOutside}`]);
    });

    it('drops nobody outside where Pods cannot be told from others', () => {
      const blind = chainsOf('IPv4', { behaviour: 'documented', detector: undefined });
      expect(added('filter', 'KUBE-PROXY-FIREWALL', blind)).to.deep.equal([dropInside]);
    });

    it('lets echo requests to bound addresses through, and refuses TCP by a reset, in the words of each family', () => {
      const ofOurs = (echo: string, set: string) => [
        `${echo} -j RETURN`,
        `-p tcp -m conntrack --ctstate NEW -m set --match-set ${set} dst -j REJECT --reject-with tcp-reset`,
      ];
      const ipv4 = ofOurs('-p icmp -m icmp --icmp-type 8', 'KUBE-IPVS-IPS');
      expect(added('filter', 'KUBE-IPVS-FILTER')).to.deep.equal(ipv4);
      expect(documented.filter['KUBE-IPVS-FILTER']?.slice(-3, -1)).to.deep.equal(ipv4);
      const ipv6 = chainsOf('IPv6', { behaviour: 'documented' }).filter['KUBE-IPVS-FILTER'];
      expect(ipv6?.slice(-3, -1)).to.deep.equal(ofOurs('-p ipv6-icmp -m icmp6 --icmpv6-type 128', 'KUBE-6-IPVS-IPS'));
    });

    it('accepts what is served at the end of INPUT, after the rules of others', () => {
      expect(documented.filter['KUBE-IPVS-ACCEPT']).to.deep.equal([
        '-m set --match-set KUBE-LOAD-BALANCER dst,dst -j ACCEPT',
        '-m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT',
        '-m set --match-set KUBE-EXTERNAL-IP dst,dst -j ACCEPT',
        '-m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j ACCEPT',
        '-p tcp -m set --match-set KUBE-NODE-PORT-IP dst -m set --match-set KUBE-NODE-PORT-TCP dst -j ACCEPT',
        '-p udp -m set --match-set KUBE-NODE-PORT-IP dst -m set --match-set KUBE-NODE-PORT-UDP dst -j ACCEPT',
        '-p sctp -m set --match-set KUBE-NODE-PORT-SCTP-HASH dst,dst -j ACCEPT',
        '-p icmp -m icmp --icmp-type 8 -m set --match-set KUBE-IPVS-IPS dst -j ACCEPT',
      ]);
      const { jumps, obsolete } = wantedTables(inputsFor('IPv4', { behaviour: 'documented' })).filter;
      expect(jumps.filter(({ place }) => place === 'last')).to.deep.equal([
        {
          from: 'INPUT',
          rule: '-m comment --comment "kubernetes ipvs service ports" -j KUBE-IPVS-ACCEPT',
          place: 'last',
        },
      ]);
      expect(obsolete).to.deep.equal([]);
    });

    it('is undone by the behaviour of kube-proxy', () => {
      const { chains, jumps, obsolete } = wantedTables(inputsFor('IPv4', {})).filter;
      expect([chains.has('KUBE-IPVS-ACCEPT'), jumps.every(({ place }) => place === 'first')]).to.deep.equal([
        false,
        true,
      ]);
      expect(obsolete).to.deep.equal(['KUBE-IPVS-ACCEPT']);
    });
  });
});

function closed(
  address: string,
  protocol: 'TCP' | 'UDP' | 'SCTP' = 'TCP',
  number = 80,
): RuleInputs['closedToNode'][number] {
  return { address: ip(address), protocol, port: port(number) };
}

function inputsFor(family: Family, given: Partial<RuleInputs>): RuleInputs {
  return {
    family,
    behaviour: 'kube-proxy',
    filled: EVERY_SET,
    mark: 0x4000,
    masqueradeAll: false,
    randomFully: true,
    detector: { kind: 'source', cidr: cidr('10.180.0.0/16') },
    ownPods: { kind: 'source', cidr: cidr('10.180.0.0/24') },
    closedToNode: [closed('203.0.113.9')],
    ...given,
  };
}

function chainsOf(
  family: Family,
  given: Partial<RuleInputs> = {},
): Record<'nat' | 'filter', Record<string, readonly string[]>> {
  const { nat, filter } = wantedTables(inputsFor(family, given));
  return { nat: Object.fromEntries(nat.chains), filter: Object.fromEntries(filter.chains) };
}
