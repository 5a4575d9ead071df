import { expect } from 'chai';
import { endpointJson, type ObjectJson, serviceObject, sliceObject } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart, ELSEWHERE, HERE, NODE_PORT } from './cart.ts';

const SERVER = '-t 172.20.1.1:80';
const LOST = '10.180.1.5:8080';
const THIRD = endpointJson('10.180.1.6', 'node-b');

describe('test/reports/stale-real-servers', () => {
  it('R01: a ready endpoint that was left with weight 0 has weight 1 after the first pass of a new process', async () => {
    const node = new NodeUnderTest();
    node.kernel.ipvs.restore(
      `-A ${SERVER} -s rr\n-a ${SERVER} -r 10.180.0.5:8080 -m -w 1\n-a ${SERVER} -r ${LOST} -m -w 0\n`,
    );
    await node.apply(cart({}), 'full');
    expect(node.ipvs()).to.deep.equal([
      `-A ${SERVER} -s rr`,
      `-a ${SERVER} -r 10.180.0.5:8080 -m -w 1`,
      `-a ${SERVER} -r ${LOST} -m -w 1`,
    ]);
  });

  it('R01: an endpoint that turns unready, and ready while nobody is running, has weight 1 again', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}));
    node.kernel.ipvs.connect(SERVER, LOST, 2);
    await node.apply(cart({}, [HERE]));
    expect(node.ipvs()).to.include(`-a ${SERVER} -r ${LOST} -m -w 0`);
    node.restart();
    await node.apply(cart({}));
    expect(node.ipvs()).to.include(`-a ${SERVER} -r ${LOST} -m -w 1`);
  });

  for (const [what, command] of [
    ['real server', `-d ${SERVER} -r ${LOST}\n`],
    ['whole virtual server', `-D ${SERVER}\n`],
  ] as const) {
    for (const waitMs of [0, 60_000]) {
      it(`R03: the ${what} that drains is taken away by others, and ${waitMs} ms later the next endpoint comes in one pass`, async () => {
        const node = new NodeUnderTest();
        await node.apply(cart({}));
        node.kernel.ipvs.connect(SERVER, LOST, 3);
        node.record(cart({}, [HERE]));
        await node.passOnce();
        node.kernel.ipvs.restore(command);
        node.wait(waitMs);
        node.record(cart({}, [HERE, THIRD]));
        let report = await node.passOnce();
        // Before it is time to look at what drains, a normal pass adds to a virtual server that is known, and reads when that fails.
        expect(report.errors).to.deep.equal([]);
        expect(node.ipvs()).to.include(`-a ${SERVER} -r 10.180.1.6:8080 -m -w 1`);
        node.wait(60_000);
        report = await node.passOnce();
        expect(report.errors).to.deep.equal([]);
        expect(report.families.map(({ draining }) => draining)).to.deep.equal([0, 0]);
        expect(node.ipvs().filter((line) => line.startsWith(`-a ${SERVER}`))).to.deep.equal([
          `-a ${SERVER} -r 10.180.0.5:8080 -m -w 1`,
          `-a ${SERVER} -r 10.180.1.6:8080 -m -w 1`,
        ]);
      });
    }
  }

  for (const [connections, left] of [
    [0, []],
    [2, ['-w 0']],
  ] as const) {
    it(`R04: an endpoint replaced in one slice update is replaced at cluster address and node port, ${connections} connections to the old one`, async () => {
      const node = new NodeUnderTest();
      const fields = { type: 'NodePort', ports: [NODE_PORT] };
      await node.apply(cart(fields, [ELSEWHERE]));
      const servers = [SERVER, '-t 192.168.0.10:30080'];
      for (const server of servers) node.kernel.ipvs.connect(server, LOST, connections);
      await node.apply(cart(fields, [THIRD]));
      for (const server of servers) {
        expect(node.ipvs().filter((line) => line.startsWith(`-a ${server}`))).to.deep.equal([
          ...left.map((weight) => `-a ${server} -r ${LOST} -m ${weight}`),
          `-a ${server} -r 10.180.1.6:8080 -m -w 1`,
        ]);
      }
    });
  }

  it('R04: an endpoint that the kernel does not take is reported with its Service, and tried again', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}, [HERE]));
    node.kernel.ipvs.refuse('10.180.1.6:8080');
    node.record(cart({}, [HERE, THIRD]));
    const { refusals } = await node.passOnce();
    expect(refusals.map(({ service }) => service)).to.deep.equal(['shop/cart']);
    node.kernel.ipvs.refuse();
    await node.pass();
    expect(node.ipvs()).to.include(`-a ${SERVER} -r 10.180.1.6:8080 -m -w 1`);
  });

  for (const [name, limitMs] of [
    ['the default of 15 minutes', 15 * 60_000],
    ['90 seconds as set', 90_000],
  ] as const) {
    it(`R06: an endpoint whose connections never end is removed after ${name}, not before`, async () => {
      const draining = { limitMs, ofDeletedServices: false, closingMs: 0 };
      const node = new NodeUnderTest(limitMs === 90_000 ? { draining } : {});
      await node.apply(cart({}));
      node.kernel.ipvs.connect(SERVER, LOST, 500);
      node.record(cart({}, [HERE]));
      const startMs = node.nowMs;
      let looks = 0;
      for (let report = await node.passOnce(); ; report = await node.passOnce()) {
        if (!node.ipvs().join().includes(LOST)) break;
        expect(node.ipvs()).to.include(`-a ${SERVER} -r ${LOST} -m -w 0`);
        const afterMs = Math.min(...report.families.map(({ lookAfterMs }) => lookAfterMs ?? Infinity));
        expect(afterMs).to.be.within(1, 30_000);
        node.wait(afterMs);
        looks += 1;
      }
      expect(node.nowMs - startMs).to.equal(limitMs);
      expect(looks).to.be.lessThan(10 + limitMs / 30_000);
    });
  }

  it('R08: a UDP endpoint goes in the pass after its removal, and the flows to it end in the same pass', async () => {
    const node = new NodeUnderTest();
    const dns = { name: 'dns', protocol: 'UDP', port: 53 };
    const objects = (...endpoints: readonly ObjectJson[]) => [
      serviceObject('shop/dns', { ports: [dns] }),
      sliceObject('shop/dns-1', { service: 'dns', ports: [{ ...dns, port: 5353 }], endpoints }),
    ];
    await node.apply(objects(HERE, ELSEWHERE));
    const flow = (answeredBy: string) => ({ from: '10.180.0.9:4444', to: '172.20.1.1:53', answeredBy });
    node.kernel.conntrack.put(flow('10.180.1.5:5353'), flow('10.180.0.5:5353'));
    node.record(objects(HERE));
    const report = await node.passOnce();
    expect(report.errors).to.deep.equal([]);
    expect(node.ipvs().join()).to.not.include('10.180.1.5');
    expect(node.kernel.conntrack.flows()).to.deep.equal(['10.180.0.9:4444 > 172.20.1.1:53 > 10.180.0.5:5353']);
  });
});
