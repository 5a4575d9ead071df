import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { real, server, setsWith } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import type { PlanPart } from './plan-sync.ts';
import { renderFullState, renderPlanPart } from './scripts.ts';

describe('plan/scripts', () => {
  const [set] = setsWith('IPv4').values();
  if (!set) throw new Error('there is no set');
  const change = {
    table: 'nat',
    chains: new Map([['KUBE-MARK-MASQ', []]]),
    jumps: [],
    removedJumps: [],
    removedChains: [],
    differing: [],
  } as const;
  const parts: readonly (readonly [PlanPart, string, string])[] = [
    [
      { tool: 'ipset', steps: [{ kind: 'add-entry', set, entry: '10.0.0.1,tcp:80,10.0.0.1' as SetEntry }] },
      'ipset',
      'add KUBE-LOOP-BACK 10.0.0.1,6:80,10.0.0.1\n',
    ],
    [{ tool: 'iptables', family: 'IPv4', changes: [change] }, 'iptables', '*nat\n:KUBE-MARK-MASQ - [0:0]\nCOMMIT\n'],
    [{ tool: 'iptables', family: 'IPv6', changes: [change] }, 'ip6tables', '*nat\n:KUBE-MARK-MASQ - [0:0]\nCOMMIT\n'],
    [
      { tool: 'ipvs', steps: [{ kind: 'delete-real-server', server: server(), real: real() }] },
      'ipvs',
      '-d -t 172.20.1.1:80 -r 10.180.0.1:8080\n',
    ],
    [
      { tool: 'address', steps: [{ kind: 'bind-address', address: ip('172.20.1.1') }] },
      'address',
      'address replace 172.20.1.1/32 dev kube-ipvs0\n',
    ],
  ];
  for (const [part, tool, text] of parts) {
    it(`writes a part of a plan for ${tool}`, () => expect(renderPlanPart(part)).to.deep.equal({ tool, text }));
  }

  it('writes the whole state of one family and leaves the rules of the other empty', () => {
    const scripts = renderFullState([desiredFor([[servicePort(), [endpoint()]]])]);
    expect(scripts.ipvs).to.equal('-A -t 172.20.1.1:80 -s rr\n-a -t 172.20.1.1:80 -r 10.180.1.1:8080 -m -w 1\n');
    expect(scripts.address).to.equal('link add kube-ipvs0 type dummy\naddress replace 172.20.1.1/32 dev kube-ipvs0\n');
    expect(scripts.ipset.split('\n').filter((line) => line.startsWith('create'))).to.have.lengthOf(20);
    expect(scripts.ipset.split('\n').filter((line) => line.startsWith('add'))).to.deep.equal([
      'add KUBE-CLUSTER-IP 172.20.1.1,6:80',
      'add KUBE-IPVS-IPS 172.20.1.1',
    ]);
    expect(scripts.iptables.match(/^\*\w+$/gm)).to.deep.equal(['*nat', '*filter']);
    expect(scripts.ip6tables).to.equal('');
  });

  it('writes nothing for no family', () => {
    expect(renderFullState([])).to.deep.equal({ ipvs: '', ipset: '', address: '', iptables: '', ip6tables: '' });
  });
});
