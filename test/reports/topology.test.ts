import { expect } from 'chai';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart, ELSEWHERE, HERE } from './cart.ts';

describe('test/reports/topology', () => {
  const hints = { forZones: [{ name: 'zone-b' }] };
  const hinted = [HERE, ELSEWHERE].map((endpoint) => ({ ...endpoint, hints }));

  it('R125: policy Local decides alone: hints for another zone take no local endpoint away', async () => {
    const node = new NodeUnderTest();
    const [own = {}, ...rest] = cart({ internalTrafficPolicy: 'Local' }, hinted);
    await node.apply([inZone(own, 'zone-a'), ...rest]);
    expect(node.ipvs()).to.deep.equal(['-A -t 172.20.1.1:80 -s rr', '-a -t 172.20.1.1:80 -r 10.180.0.5:8080 -m -w 1']);
  });

  it('R125: policy Cluster follows hints', async () => {
    const node = new NodeUnderTest();
    const here = { ...HERE, hints: { forZones: [{ name: 'zone-a' }] } };
    const [own = {}, ...rest] = cart({}, [here, { ...ELSEWHERE, hints }]);
    await node.apply([inZone(own, 'zone-a'), ...rest]);
    expect(node.ipvs().filter((line) => line.startsWith('-a'))).to.deep.equal([
      '-a -t 172.20.1.1:80 -r 10.180.0.5:8080 -m -w 1',
    ]);
  });
});

function inZone(node: Readonly<Record<string, unknown>>, zone: string) {
  return { ...node, metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/zone': zone } } };
}
