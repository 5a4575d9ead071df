import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { real, setsWith } from '../../test/builders/kernel-states.ts';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import { setName } from '../kernel/ipset/definitions.ts';
import { type IpsetState, type SetEntry, withEntries } from '../kernel/ipset/state.ts';
import { applyTableChanges, diffIptables, emptyTables } from '../kernel/iptables/diff.ts';
import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import { frozenServers, frozenUnseen } from './frozen-servers.ts';

describe('plan/frozen-servers', () => {
  const http = servicePort({
    externalPolicyLocal: true,
    nodePort: port(30080),
    externalIPs: [ip('203.0.113.1')],
    loadBalancerVIPs: [ip('198.51.100.1')],
    loadBalancerSourceRanges: [cidr('10.0.0.0/8')],
  });
  const { kernel } = desiredFor([[http, [endpoint({ local: true })]]]);
  const far = desiredFor([[http, [endpoint()]]]).kernel;
  const { sets } = kernel;
  const tables = applyTableChanges(emptyTables(), diffIptables(emptyTables(), kernel.tables));
  const without = (name: string, text: string): IpsetState => {
    const set = sets.get(name);
    if (!set) throw new Error(`no set ${name}`);
    return new Map(sets).set(name, withEntries(set, set.entries.difference(new Set([text as SetEntry]))));
  };
  const frozen = (standing: Parameters<typeof frozenServers>[1]) => {
    const isFrozen = frozenServers(kernel, standing);
    return [...kernel.ipvs].flatMap(([key, server]) => (isFrozen(server) ? [key] : []));
  };

  it('are none where all entries and rules stand', () => {
    expect(frozen({ sets, tables })).to.deep.equal([]);
  });

  const lacking = [
    { id: 'LOAD-BALANCER-FW', text: '198.51.100.1,tcp:80', server: 'TCP 198.51.100.1:80' },
    { id: 'LOAD-BALANCER', text: '198.51.100.1,tcp:80', server: 'TCP 198.51.100.1:80' },
    { id: 'CLUSTER-IP', text: '172.20.1.1,tcp:80', server: 'TCP 172.20.1.1:80' },
    { id: 'EXTERNAL-IP-LOCAL', text: '203.0.113.1,tcp:80', server: 'TCP 203.0.113.1:80' },
    { id: 'NODE-PORT-TCP', text: '30080', server: 'TCP 192.168.0.10:30080' },
  ] as const;
  for (const { id, text, server } of lacking) {
    it(`are ${server} where its entry of ${id} lacks`, () => {
      expect(frozen({ sets: without(setName(id, 'IPv4'), text), tables })).to.deep.equal([server]);
    });
  }

  it('are those whose entries would have no rule', () => {
    const filter = new Map(tables.filter).set('KUBE-PROXY-FIREWALL', []);
    expect(frozen({ sets, tables: { ...tables, filter } })).to.deep.equal(['TCP 198.51.100.1:80']);
  });

  it('are not those that lack what is no guard', () => {
    const name = setName('LOAD-BALANCER-SOURCE-CIDR', 'IPv4');
    expect(frozen({ sets: without(name, '198.51.100.1,tcp:80,10.0.0.0/8'), tables })).to.deep.equal([]);
  });

  it('are those that endpoints still take clients of for the node, and should not', () => {
    const cluster = desiredFor([[servicePort({ nodePort: port(30081) }), [endpoint()]]]).kernel;
    const old = setsWith('IPv4', { 'NODE-PORT-LOCAL-TCP': ['30080', '30081'] }).get('KUBE-NODE-PORT-LOCAL-TCP');
    const isFrozen = frozenServers(cluster, {
      sets: new Map([...cluster.sets, ...(old ? [[old.name, old] as const] : [])]),
    });
    expect(
      [...cluster.ipvs.values()].filter((server) => isFrozen(server)).map(({ port: number }) => number),
    ).to.deep.equal([30081]);
  });

  describe('where nothing can be read', () => {
    const unseen = (
      state: typeof kernel,
      present: (server: string) => readonly ReturnType<typeof real>[],
      halfMade = new Set<VirtualServerKey>(),
    ) => {
      const isFrozen = frozenUnseen(state, halfMade);
      return [...state.ipvs].flatMap(([key, server]) =>
        isFrozen(server, { ...server, realServers: present(key) }) ? [key] : [],
      );
    };

    it('are those with ranges that serve nobody', () => {
      expect(unseen(kernel, () => [real('10.180.0.9', { weight: 0 })])).to.deep.equal(['TCP 198.51.100.1:80']);
    });

    it('are not those with ranges that serve somebody, so that rollouts go on', () => {
      expect(unseen(kernel, () => [real()])).to.deep.equal([]);
    });

    it('are those without endpoints, and with rules, that a pass has made which did not come to its end', () => {
      const halfMade = new Set([...kernel.ipvs.keys()].filter((key) => key !== 'TCP 203.0.113.1:80'));
      expect(unseen(kernel, () => [], halfMade)).to.deep.equal([...halfMade]);
      expect(unseen(kernel, () => [real()], halfMade)).to.deep.equal([]);
    });

    it('are those whose clients would be sent elsewhere against the policy', () => {
      expect(unseen(far, () => [real()])).to.deep.equal([
        'TCP 203.0.113.1:80',
        'TCP 198.51.100.1:80',
        'TCP 192.168.0.10:30080',
      ]);
    });
  });
});
