import { expect } from 'chai';
import { parseSetSizes } from './parse-sizes.ts';

describe('kernel/ipset/parse-sizes', () => {
  it('reads what `ipset list -t` prints', () => {
    const text = `Name: KUBE-CLUSTER-IP
Type: hash:ip,port
Revision: 6
Header: family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x77b5c341
Size in memory: 352
References: 2
Number of entries: 2

Name: KUBE-NODE-PORT-TCP
Type: bitmap:port
Revision: 3
Header: range 0-65535
Size in memory: 8264
References: 0
Number of entries: 0
`;
    expect([...(parseSetSizes(text) ?? [])]).to.deep.equal([
      ['KUBE-CLUSTER-IP', 2],
      ['KUBE-NODE-PORT-TCP', 0],
    ]);
  });

  it('has no set where there is none', () => expect(parseSetSizes('')?.size).to.equal(0));

  for (const text of ['Name: KUBE-CLUSTER-IP\n', 'Number of entries: 2\n', 'surprise\n']) {
    it(`takes nothing else for a list: ${JSON.stringify(text)}`, () => expect(parseSetSizes(text)).to.equal(undefined));
  }
});
