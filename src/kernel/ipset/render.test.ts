import { expect } from 'chai';
import { setsWith } from '../../../test/builders/kernel-states.ts';
import { FAMILIES } from '../../net/family.ts';
import type { IpsetStep } from './diff.ts';
import { renderIpsetState, renderIpsetStep, renderIpsetSteps } from './render.ts';
import type { SetEntry } from './state.ts';

describe('kernel/ipset/render', () => {
  it('writes a whole state as all sets and then all entries, both sorted', () => {
    const sets = setsWith('IPv6', {
      'CLUSTER-IP': ['fd00::2,udp:53', 'fd00::1,tcp:80'],
      'LOAD-BALANCER-SOURCE-CIDR': ['fd00::9,sctp:80,2001:db8::/32'],
      'NODE-PORT-TCP': ['30080'],
    });
    const names = ['KUBE-6-NODE-PORT-TCP', 'KUBE-6-CLUSTER-IP', 'KUBE-6-LOAD-BALANCER-SOURCE-CID', 'KUBE-6-IPVS-IPS'];
    const some = new Map([...sets].filter(([name]) => names.includes(name)));
    expect(renderIpsetState(some)).to.equal(
      `create KUBE-6-CLUSTER-IP hash:ip,port family inet6 hashsize 1024 maxelem 65536
create KUBE-6-IPVS-IPS hash:ip family inet6 hashsize 1024 maxelem 65536
create KUBE-6-LOAD-BALANCER-SOURCE-CID hash:ip,port,net family inet6 hashsize 1024 maxelem 65536
create KUBE-6-NODE-PORT-TCP bitmap:port range 0-65535
add KUBE-6-CLUSTER-IP fd00::1,6:80
add KUBE-6-CLUSTER-IP fd00::2,17:53
add KUBE-6-LOAD-BALANCER-SOURCE-CID fd00::9,132:80,2001:db8::/32
add KUBE-6-NODE-PORT-TCP 30080
`,
    );
  });

  it('writes nothing for nothing', () => {
    expect(renderIpsetState(new Map())).to.equal('');
    expect(renderIpsetSteps([])).to.equal('');
  });

  for (const family of FAMILIES) {
    const [prefix, inet] = family === 'IPv4' ? ['KUBE-', 'inet'] : ['KUBE-6-', 'inet6'];
    const address = family === 'IPv4' ? '10.96.0.1' : 'fd00::1';
    const set = setsWith(family).get(`${prefix}CLUSTER-IP`);
    const bitmap = setsWith(family).get(`${prefix}NODE-PORT-UDP`);
    const entry = `${address},udp:53` as SetEntry;
    if (!set || !bitmap) throw new Error('the sets are not there');
    const steps: readonly (readonly [IpsetStep, string])[] = [
      [
        { kind: 'create-set', set },
        `create ${prefix}CLUSTER-IP hash:ip,port family ${inet} hashsize 1024 maxelem 65536`,
      ],
      [{ kind: 'create-set', set: bitmap }, `create ${prefix}NODE-PORT-UDP bitmap:port range 0-65535`],
      [{ kind: 'add-entry', set, entry }, `add ${prefix}CLUSTER-IP ${address},17:53`],
      [{ kind: 'delete-entry', set, entry }, `del ${prefix}CLUSTER-IP ${address},17:53`],
      [{ kind: 'swap-sets', set, other: `${prefix}EXCHANGE` }, `swap ${prefix}CLUSTER-IP ${prefix}EXCHANGE`],
      [{ kind: 'destroy-set', name: `${prefix}EXCHANGE` }, `destroy ${prefix}EXCHANGE`],
    ];
    for (const [step, line] of steps) {
      it(`writes ${step.kind} for ${family}: ${line}`, () => expect(renderIpsetStep(step)).to.equal(line));
    }
  }
});
