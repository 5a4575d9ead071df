import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { setsWith } from '../../test/builders/kernel-states.ts';
import { cidr, ip } from '../../test/builders/net.ts';
import { servicePort } from '../../test/builders/objects.ts';
import { meanwhile } from './rule-inputs.ts';

describe('desired/rule-inputs', () => {
  const closed = (last: number) =>
    servicePort({ loadBalancerVIPs: [ip(`203.0.113.${last}`)], loadBalancerSourceRanges: [cidr('9.0.0.0/8')] });
  const [before, after] = [1, 2].map((last) => desiredFor([[closed(last), []]]).rules);
  if (!before || !after) throw new Error('there are two');

  it('keeps the node out of what it was kept out of until all is done', () => {
    const both = meanwhile(after, before, new Map()).closedToNode.map(({ address }) => address);
    expect(both).to.deep.equal(['203.0.113.1', '203.0.113.2']);
    expect(meanwhile(after, undefined, new Map()).closedToNode).to.deep.equal(after.closedToNode);
  });

  it('keeps rules for sets that still have entries', () => {
    const observed = setsWith('IPv4', { 'EXTERNAL-IP': ['203.0.113.7,tcp:80'] });
    expect(after.filled.has('EXTERNAL-IP')).to.equal(false);
    expect(meanwhile(after, before, observed).filled.has('EXTERNAL-IP')).to.equal(true);
  });
});
