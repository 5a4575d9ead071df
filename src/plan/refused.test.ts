import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { cidr, ip } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { SetEntry } from '../kernel/ipset/state.ts';
import { type Refused, withoutRefused } from './refused.ts';

describe('plan/refused', () => {
  const http = servicePort({
    loadBalancerVIPs: [ip('198.51.100.1')],
    loadBalancerSourceRanges: [cidr('10.0.0.0/8')],
  });
  const { kernel } = desiredFor([[http, [endpoint({ local: true })]]]);
  const entry = (set: string, text: string): Refused => ({ kind: 'set-entry', set, entry: text as SetEntry });
  const closing = entry('KUBE-LOAD-BALANCER-FW', '198.51.100.1,tcp:80');

  it('wants an entry that was refused no more, and all else', () => {
    const refused = entry('KUBE-LOOP-BACK', '10.180.1.1,tcp:8080,10.180.1.1');
    const left = withoutRefused(kernel, [refused], new Map());
    expect(kernel.sets.get('KUBE-LOOP-BACK')?.entries.size).to.equal(1);
    expect([...left.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80', 'TCP 198.51.100.1:80']);
    expect([...left.dummy.addresses]).to.deep.equal(['172.20.1.1', '198.51.100.1']);
    expect(left.sets.get('KUBE-LOOP-BACK')?.entries.size).to.equal(0);
  });

  it('binds no address without the entry that guards it', () => {
    const left = withoutRefused(kernel, [entry('KUBE-IPVS-IPS', '198.51.100.1')], new Map());
    expect([...left.dummy.addresses]).to.deep.equal(['172.20.1.1']);
  });

  it('lets no virtual server come without the entry that keeps clients out', () => {
    const left = withoutRefused(kernel, [closing], new Map());
    expect([...left.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80']);
    expect([...left.dummy.addresses]).to.deep.equal(['172.20.1.1']);
  });

  it('leaves a virtual server that stands where that entry is new and refused', () => {
    const left = withoutRefused(kernel, [closing], kernel.ipvs);
    expect([...left.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80', 'TCP 198.51.100.1:80']);
  });
});
