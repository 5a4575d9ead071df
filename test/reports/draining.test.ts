import { expect } from 'chai';
import { nodeObject, type ObjectJson, serviceObject, sliceObject } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { balancedCart, cart, ELSEWHERE, HERE, otherService } from './cart.ts';
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

  const RESET = { limitMs: 60_000, ofDeletedServices: false, closingMs: 30_000 };
  const FINISH = { ...RESET, ofDeletedServices: true };
  const refused = (node: NodeUnderTest) => node.set('KUBE-IPVS-IPS')?.includes('172.20.1.1');

  for (const before of ['with open connections', 'with open connections and an endpoint that drains'] as const) {
    it(`R13: a Service deleted ${before} loses its virtual server at once, and its address refuses what comes for 30 s`, async () => {
      const node = new NodeUnderTest({ draining: RESET });
      await node.apply([...cart({}), ...otherService(1)]);
      for (const real of [LOST, '10.180.0.5:8080']) node.kernel.ipvs.connect(SERVER, real, 4);
      if (before !== 'with open connections') await node.apply([...cart({}, [HERE]), ...otherService(1)]);
      node.record(otherService(1));
      const report = await node.passOnce();
      expect(lines(node)).to.deep.equal([]);
      expect([node.bound(), refused(node)]).to.deep.equal([['172.20.1.1', '172.20.2.1'], true]);
      expect(node.kernel.ipsets.save()).to.not.include('172.20.1.1,');
      expect(Math.min(...report.families.flatMap(({ lookAfterMs }) => lookAfterMs ?? []))).to.equal(30_000);
      node.wait(29_999);
      await node.passOnce('full');
      expect([node.bound(), refused(node)]).to.deep.equal([['172.20.1.1', '172.20.2.1'], true]);
      node.wait(1);
      await node.passOnce();
      expect([node.bound(), refused(node)]).to.deep.equal([['172.20.2.1'], false]);
    });
  }

  it('R13: what still comes for a connection that was cut is refused by a reset, over both families', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}));
    for (const [family, prefix] of [
      ['IPv4', 'KUBE-'],
      ['IPv6', 'KUBE-6-'],
    ] as const) {
      expect(node.rules('filter', 'KUBE-IPVS-FILTER', family)).to.include(
        `-p tcp -m conntrack --ctstate NEW -m set --match-set ${prefix}IPVS-IPS dst -j REJECT --reject-with tcp-reset`,
      );
    }
  });

  it('R13: no new connection gets past the filter to whatever listens on the node, from before the virtual server goes', async () => {
    const node = new NodeUnderTest({ draining: RESET });
    await node.apply(cart({}));
    node.takeScripts();
    await node.apply([]);
    const scripts = node.takeScripts().filter((script) => script.includes('172.20.1.1'));
    const shut = scripts.findIndex((script) => script.includes('del KUBE-CLUSTER-IP 172.20.1.1,6:80'));
    const gone = scripts.findIndex((script) => script.includes(`-D ${SERVER}`));
    expect(shut, scripts.join()).to.be.within(0, gone - 1);
  });

  it('R13: a Service made anew takes over the address that still refuses, and the time of the old one is forgotten', async () => {
    const node = new NodeUnderTest({ draining: RESET });
    await node.apply(cart({}));
    node.record([]);
    await node.passOnce();
    node.wait(20_000);
    node.record(cart({}));
    await node.passOnce();
    expect([lines(node).length, node.bound()]).to.deep.equal([3, ['172.20.1.1']]);
    expect(node.set('KUBE-CLUSTER-IP')).to.deep.equal(['172.20.1.1,tcp:80']);
    node.wait(20_000);
    await node.passOnce();
    expect([lines(node).length, node.bound()]).to.deep.equal([3, ['172.20.1.1']]);
    node.record([]);
    await node.passOnce();
    node.wait(29_999);
    await node.passOnce();
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
  });

  it('R13: another start of the program takes away an address that still refuses', async () => {
    const node = new NodeUnderTest({ draining: RESET });
    await node.apply(cart({}));
    node.record([]);
    await node.passOnce();
    node.restart();
    await node.passOnce('full');
    expect([lines(node), node.bound(), refused(node)]).to.deep.equal([[], [], false]);
  });

  it('R13: an address refuses for a while also where the Service was deleted while the program did not run', async () => {
    const node = new NodeUnderTest({ draining: RESET });
    await node.apply(cart({}));
    node.restart();
    await node.passOnce('full');
    expect([lines(node), node.bound()]).to.deep.equal([[], ['172.20.1.1']]);
    node.wait(30_000);
    await node.passOnce();
    expect([node.bound(), refused(node)]).to.deep.equal([[], false]);
  });

  it('R13: a pass that fails after the virtual server is gone does not cost the address its time', async () => {
    const node = new NodeUnderTest({ draining: RESET });
    await node.apply(cart({}));
    node.record([]);
    const { runTool } = node.kernel;
    node.kernel.runTool = async (call) => {
      const isLate = call.input?.includes('del KUBE-LOOP-BACK');
      return isLate ? { ok: false, error: { kind: 'tool-missing', tool: call.tool } } : runTool(call);
    };
    expect((await node.passOnce()).errors).to.have.lengthOf(1);
    node.kernel.runTool = runTool;
    await node.passOnce();
    expect([lines(node), node.bound()]).to.deep.equal([[], ['172.20.1.1']]);
  });

  it('R13: an address that has become that of another Node is let go at once', async () => {
    const node = new NodeUnderTest({ draining: RESET });
    const outside = cart({ externalIPs: ['203.0.113.5'] });
    await node.apply(outside);
    expect(node.bound()).to.deep.equal(['172.20.1.1', '203.0.113.5']);
    await node.apply([...outside, nodeObject('node-c', { addresses: ['203.0.113.5'] })], 'full');
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
  });

  it('R13: an address that still refuses and comes up on an interface of the node is let go at once', async () => {
    const links = { eth0: ['192.168.0.10/24'] };
    const node = new NodeUnderTest({ draining: RESET, links });
    await node.apply(cart({ externalIPs: ['203.0.113.5'] }));
    node.record(cart({}));
    await node.passOnce();
    expect(node.bound()).to.deep.equal(['172.20.1.1', '203.0.113.5']);
    node.kernel.addresses.batch('address replace 203.0.113.5/32 dev eth0\n');
    await node.passOnce('full');
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
  });

  it('R13: an external address refuses for a while when only it is taken from its Service', async () => {
    const node = new NodeUnderTest({ draining: RESET });
    await node.apply(cart({ externalIPs: ['203.0.113.5'] }));
    node.record(cart({}));
    await node.passOnce();
    expect(node.bound()).to.deep.equal(['172.20.1.1', '203.0.113.5']);
    node.wait(30_000);
    await node.passOnce();
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
  });

  for (const [ending, draining] of [
    ['is reset', RESET],
    ['may finish', FINISH],
  ] as const) {
    const balanced = (ipMode: 'VIP' | 'Proxy') => balancedCart({ ingress: [{ ip: '203.0.113.5', ipMode }] });
    const connected = async (...objects: readonly ObjectJson[]) => {
      const node = new NodeUnderTest({ draining });
      await node.apply([...balanced('VIP'), ...objects]);
      for (const real of [LOST, '10.180.0.5:8080']) node.kernel.ipvs.connect('-t 203.0.113.5:80', real, 4);
      return node;
    };

    it(`R13: an address that is left to its load balancer from now on is let go at once, where what is open ${ending}`, async () => {
      const node = await connected();
      node.record(balanced('Proxy'));
      await node.passOnce();
      expect(node.bound()).to.deep.equal(['172.20.1.1']);
      expect(`${node.kernel.ipsets.save()}${node.ipvs()}`).to.not.include('203.0.113.5');
      expect(lines(node)).to.have.lengthOf(3);
    });

    it(`R13: an address that is said to be a load balancer's only afterwards is let go then, where what is open ${ending}`, async () => {
      const node = await connected();
      node.record(balancedCart({ ingress: [] }));
      await node.passOnce();
      expect(node.bound()).to.deep.equal(['172.20.1.1', '203.0.113.5']);
      node.record(balanced('Proxy'));
      await node.passOnce();
      expect([node.bound(), node.set('KUBE-IPVS-IPS')]).to.deep.equal([['172.20.1.1'], ['172.20.1.1']]);
      expect(node.ipvs().join()).to.not.include('203.0.113.5');
    });

    it(`R13: an address that one Service leaves to its load balancer stays for another that has it served here, where what is open ${ending}`, async () => {
      const other = [
        serviceObject('shop/other', {
          clusterIPs: ['172.20.2.1'],
          ports: [{ name: 'http', protocol: 'TCP', port: 81 }],
          ingress: [{ ip: '203.0.113.5' }],
        }),
        sliceObject('shop/other-1', { service: 'other', endpoints: [ELSEWHERE] }),
      ];
      const node = await connected(...other);
      node.kernel.ipvs.connect('-t 203.0.113.5:81', LOST, 4);
      node.record([...balanced('Proxy'), ...other]);
      await node.passOnce();
      expect(node.bound()).to.deep.equal(['172.20.1.1', '172.20.2.1', '203.0.113.5']);
      expect(node.ipvs().filter((line) => line.includes('203.0.113.5'))).to.deep.equal([
        '-A -t 203.0.113.5:81 -s rr',
        `-a -t 203.0.113.5:81 -r ${LOST} -m -w 1`,
      ]);
      node.record(balanced('Proxy'));
      await node.passOnce();
      expect(node.bound()).to.deep.equal(['172.20.1.1', '172.20.2.1']);
      expect(node.kernel.ipsets.save()).to.not.include('203.0.113.5');
    });
  }

  it('R13: an address that still refuses and turns out to be that of another Node is let go with the pass that hears of it', async () => {
    const node = new NodeUnderTest({ draining: RESET });
    await node.apply(cart({ externalIPs: ['203.0.113.5'] }));
    node.record(cart({}));
    await node.passOnce();
    expect(node.bound()).to.deep.equal(['172.20.1.1', '203.0.113.5']);
    node.record([...cart({}), nodeObject('node-c', { addresses: ['203.0.113.5'] })]);
    await node.passOnce();
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
  });

  for (const [change, now] of [
    ['that becomes an ExternalName', cart({ type: 'ExternalName', clusterIPs: [] })],
    ['whose load balancer goes', cart({})],
    ['that another proxy gets', []],
  ] as const) {
    it(`R13: the addresses of a Service ${change} refuse for a while, as nobody tells whose they are`, async () => {
      const node = new NodeUnderTest({ draining: RESET });
      await node.apply(balancedCart());
      node.record(now);
      await node.passOnce();
      expect(node.bound()).to.deep.equal(['172.20.1.1', '203.0.113.5']);
      node.wait(30_000);
      await node.passOnce();
      expect(node.bound()).to.deep.equal(change === 'whose load balancer goes' ? ['172.20.1.1'] : []);
    });
  }

  it('R13: a Service that may finish keeps virtual server and address as long as each other, and takes no new connection', async () => {
    const node = new NodeUnderTest({ draining: FINISH });
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

  it('R13: a Service that may finish and never does loses its virtual server after the limit, and its address refuses what is left for 30 s', async () => {
    const node = new NodeUnderTest({ draining: FINISH });
    await node.apply(cart({}, [HERE, ELSEWHERE]));
    node.kernel.ipvs.connect(SERVER, LOST, 4);
    await node.apply([]);
    node.wait(60_000);
    await node.passOnce();
    expect([lines(node), node.bound(), refused(node)]).to.deep.equal([[], ['172.20.1.1'], true]);
    node.wait(30_000);
    await node.passOnce();
    expect([node.bound(), refused(node)]).to.deep.equal([[], false]);
  });

  it('R13: a Service that may finish lets go at once of an address that another Node turns out to have, and of no other', async () => {
    const [outside, real] = ['-t 203.0.113.5:80', LOST];
    const node = new NodeUnderTest({ draining: FINISH });
    await node.apply(cart({ externalIPs: ['203.0.113.5'] }));
    for (const server of [SERVER, outside]) node.kernel.ipvs.connect(server, real, 4);
    node.record([]);
    await node.passOnce();
    expect(node.bound()).to.deep.equal(['172.20.1.1', '203.0.113.5']);
    node.record([nodeObject('node-c', { addresses: ['203.0.113.5'] })]);
    await node.passOnce();
    expect(node.ipvs().filter((line) => line.includes(outside))).to.deep.equal([]);
    expect([lines(node).length > 0, node.bound()]).to.deep.equal([true, ['172.20.1.1']]);
    expect(node.kernel.ipsets.save()).to.not.include('203.0.113.5');
  });

  it('R13: a Service that may finish does not do so at an address that another Node has by then', async () => {
    const node = new NodeUnderTest({ draining: FINISH });
    const objects = cart({ externalIPs: ['203.0.113.5'] });
    await node.apply(objects);
    node.kernel.ipvs.connect('-t 203.0.113.5:80', LOST, 4);
    node.record([...objects, nodeObject('node-c', { addresses: ['203.0.113.5'] })]);
    await node.passOnce();
    expect(node.bound()).to.deep.equal(['172.20.1.1']);
  });

  it('R13: a Service that may finish shuts nobody out of an address that comes up on an interface of the node', async () => {
    const [outside, real] = ['-t 203.0.113.5:80', LOST];
    const node = new NodeUnderTest({ draining: FINISH, links: { eth0: ['192.168.0.10/24'] } });
    await node.apply(cart({ externalIPs: ['203.0.113.5'] }));
    node.kernel.ipvs.connect(outside, real, 4);
    node.record([]);
    await node.passOnce();
    node.kernel.addresses.batch('address replace 203.0.113.5/32 dev eth0\n');
    await node.passOnce('full');
    expect([node.bound(), node.set('KUBE-IPVS-IPS')]).to.deep.equal([[], []]);
    expect(node.ipvs().filter((line) => line.includes(outside)).length, 'what goes on').to.equal(2);
    node.kernel.ipvs.connect(outside, real, 0);
    node.wait(30_000);
    await node.passOnce();
    expect([node.ipvs(), node.set('KUBE-EXTERNAL-IP')]).to.deep.equal([[], []]);
  });

  it('R13: the documentation says what becomes of the connections of a deleted Service', () => {
    expect(page('reference/configuration.md')).to.match(
      /connections to a Service that was deleted: `reset` ends them .*`finish` .*`cut` /,
    );
  });
});
