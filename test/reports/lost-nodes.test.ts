import { expect } from 'chai';
import type { ObjectJson } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart, ELSEWHERE, HERE } from './cart.ts';
import { sysctlsAfterStart } from './start-node.ts';

const SERVER = '-t 172.20.1.1:80';
const LOST = '10.180.1.5:8080';

describe('test/reports/lost-nodes', () => {
  it('R39: an endpoint that the API has dropped gets no new connection from the next pass on, and goes with its last one', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}, [HERE, ELSEWHERE]));
    node.kernel.ipvs.connect(SERVER, LOST, 3);
    node.takeScripts();
    await node.apply(cart({}, [HERE]));
    expect(node.takeScripts()).to.deep.equal([`ipvsadm: -e ${SERVER} -r ${LOST} -m -w 0\n`]);
    const report = await node.pass();
    expect(report.families.map(({ draining }) => draining)).to.deep.equal([1, 0]);
    expect(node.takeScripts()).to.deep.equal([]);
    node.kernel.ipvs.connect(SERVER, LOST, 0);
    await node.pass();
    expect(node.takeScripts()).to.deep.equal([`ipvsadm: -d ${SERVER} -r ${LOST}\n`]);
  });

  it('R39: an endpoint without connections takes no new ones at once and goes when nobody was in time, and packets of forgotten ones are refused', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}, [HERE, ELSEWHERE]));
    node.takeScripts();
    await node.apply(cart({}, [HERE]));
    expect(node.takeScripts()).to.deep.equal([
      `ipvsadm: -e ${SERVER} -r ${LOST} -m -w 0\n`,
      `ipvsadm: -d ${SERVER} -r ${LOST}\n`,
    ]);
    expect((await sysctlsAfterStart('', {}))['net/ipv4/vs/expire_nodest_conn']).to.equal('1');
  });

  for (const [policy, weights, idle, busy] of [
    ['uniform', undefined, 0, 1],
    ['byCondition', { ready: 10, readyNotServing: 5, notReady: 0 }, 0, 10],
  ] as const) {
    it(`R41: an endpoint that is ready, unready and ready again is edited, never deleted, by weight policy ${policy}`, async () => {
      const node = new NodeUnderTest({ settings: { weights } });
      await node.apply(cart({}, [HERE, ready(true)]));
      node.kernel.ipvs.connect(SERVER, LOST, 2);
      node.takeScripts();
      for (const isReady of [false, true, false, true]) {
        await node.apply(cart({}, [HERE, ready(isReady)]));
        const weight = isReady ? busy : idle;
        expect(node.takeScripts()).to.deep.equal([`ipvsadm: -e ${SERVER} -r ${LOST} -m -w ${weight}\n`]);
      }
    });
  }
});

/** The endpoint elsewhere, as the API has it while its kubelet is heard of, or is not. */
function ready(isReady: boolean): ObjectJson {
  return { ...ELSEWHERE, conditions: { ready: isReady, serving: isReady, terminating: false } };
}
