import { expect } from 'chai';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart, ELSEWHERE, HERE, otherService } from './cart.ts';
import { page } from './pages.ts';

const SERVER = '-t 172.20.1.1:80';
const LOST = '10.180.1.5:8080';

describe('test/reports/draining', () => {
  const lines = (node: NodeUnderTest) => node.ipvs().filter((line) => line.includes(SERVER));

  for (const start of ['from nothing', 'by a new process'] as const) {
    it(`R14: an endpoint with 3 connections has weight 0 and is removed with the last one, ${start}`, async () => {
      const node = new NodeUnderTest();
      await node.apply(cart({}));
      node.kernel.ipvs.connect(SERVER, LOST, 3);
      if (start === 'by a new process') node.restart();
      await node.apply(cart({}, [HERE]));
      expect(lines(node)).to.include(`-a ${SERVER} -r ${LOST} -m -w 0`);
      for (const connections of [2, 1]) {
        node.kernel.ipvs.connect(SERVER, LOST, connections);
        await node.pass();
        expect(lines(node)).to.include(`-a ${SERVER} -r ${LOST} -m -w 0`);
      }
      node.kernel.ipvs.connect(SERVER, LOST, 0);
      await node.pass();
      expect(lines(node)).to.deep.equal([`-A ${SERVER} -s rr`, `-a ${SERVER} -r 10.180.0.5:8080 -m -w 1`]);
    });
  }

  it('R09: a connection that comes between the decision and weight 0 is not cut', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}));
    const { runTool } = node.kernel;
    node.kernel.runTool = async (call) => {
      const ran = await runTool(call);
      if (call.input?.includes(`-r ${LOST} -m -w 0`)) node.kernel.ipvs.connect(SERVER, LOST, 1);
      return ran;
    };
    await node.apply(cart({}, [HERE]));
    expect(lines(node)).to.include(`-a ${SERVER} -r ${LOST} -m -w 0`);
    node.kernel.ipvs.connect(SERVER, LOST, 0);
    await node.pass();
    expect(lines(node).join()).to.not.include(LOST);
  });

  for (const before of ['with open connections', 'with open connections and an endpoint that drains'] as const) {
    it(`R13: a Service deleted ${before} loses virtual server, address and entries in one pass`, async () => {
      const node = new NodeUnderTest();
      await node.apply([...cart({}), ...otherService(1)]);
      for (const real of [LOST, '10.180.0.5:8080']) node.kernel.ipvs.connect(SERVER, real, 4);
      if (before !== 'with open connections') await node.apply([...cart({}, [HERE]), ...otherService(1)]);
      node.record(otherService(1));
      const report = await node.passOnce();
      expect(report.errors).to.deep.equal([]);
      expect(node.bound()).to.deep.equal(['172.20.2.1']);
      expect(lines(node)).to.deep.equal([]);
      expect(node.kernel.ipsets.save()).to.not.include('172.20.1.1');
    });
  }

  it('R13: a Service that may finish keeps virtual server and address as long as each other, and takes no new connection', async () => {
    const node = new NodeUnderTest({ draining: { limitMs: 60_000, ofDeletedServices: true } });
    await node.apply(cart({}));
    node.kernel.ipvs.connect(SERVER, LOST, 4);
    await node.apply([]);
    expect([lines(node), node.bound()]).to.deep.equal([
      [`-A ${SERVER} -s rr`, `-a ${SERVER} -r ${LOST} -m -w 0`],
      ['172.20.1.1'],
    ]);
    node.kernel.ipvs.connect(SERVER, LOST, 0);
    await node.pass();
    expect([lines(node), node.bound()]).to.deep.equal([[], []]);
  });

  it('R13: a Service that may finish and never does is gone after the limit, address and all', async () => {
    const node = new NodeUnderTest({ draining: { limitMs: 60_000, ofDeletedServices: true } });
    await node.apply(cart({}, [HERE, ELSEWHERE]));
    node.kernel.ipvs.connect(SERVER, LOST, 4);
    await node.apply([]);
    node.wait(60_000);
    await node.pass();
    expect([lines(node), node.bound()]).to.deep.equal([[], []]);
  });

  it('R13: the documentation says what becomes of the connections of a deleted Service', () => {
    expect(page('reference/configuration.md')).to.match(/connections to a Service that was deleted: `cut` ends them/);
  });
});
