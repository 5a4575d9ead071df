import { expect } from 'chai';
import type { StatusAnswer } from '../../src/observe/status.ts';
import { cart, ELSEWHERE, HERE, otherService } from '../reports/cart.ts';
import { ObservedNode } from './observed-node.ts';

describe('test/http/status', () => {
  let node: ObservedNode;
  beforeEach(async () => {
    node = new ObservedNode();
    await node.serving.start();
  });
  afterEach(() => node.stop());

  async function ask(query = ''): Promise<StatusAnswer> {
    const { status, headers, body } = await node.ask('metrics', `/status${query}`);
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json']);
    return JSON.parse(body);
  }

  async function begin(): Promise<void> {
    await node.apply([...cart({}), ...otherService(1)], 0);
    await node.listed();
  }

  it('answers before the first pass', async () => {
    const status = await ask();
    expect(status).to.deep.include({ version: '1.2.3', mode: 'ipvs', behaviour: 'documented', scheduler: 'rr' });
    expect(status.totals).to.deep.equal({
      ...{ services: 0, servicePorts: 0, virtualServers: 0, realServers: 0, draining: 0 },
    });
    expect(status.passes).to.deep.equal({ full: 0, normal: 0, failed: 0, notable: [] });
    expect((await ask('?service=all')).services).to.deep.equal([]);
  });

  it('counts what is programmed, and tells what the last passes did', async () => {
    await begin();
    const { node: name, totals, health, queue, passes, uptimeSeconds } = await ask();
    expect([name, health.healthy, health.nodeEligible, queue.waiting]).to.deep.equal(['node-a', true, true, 0]);
    expect(totals).to.deep.equal({ services: 2, servicePorts: 2, virtualServers: 2, realServers: 3, draining: 0 });
    expect(passes.latest).to.deep.include({ kind: 'full', services: 2, errors: [] });
    expect(passes.notable[0]?.steps).to.deep.include({ 'add-virtual-server': 2, 'add-real-server': 3 });
    await node.advance(10_000);
    expect((await ask()).uptimeSeconds).to.equal(uptimeSeconds + 10);
  });

  it('reads nothing of the kernel for the totals', async () => {
    await begin();
    node.kernel.calls.splice(0);
    node.failing.add('file');
    await ask();
    expect(node.kernel.calls).to.deep.equal([]);
  });

  it('tells of one Service how its real servers stand, and of a draining one since when', async () => {
    await begin();
    node.kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.1.5:8080', 4);
    await node.apply([...cart({}, [HERE]), ...otherService(1)]);
    await node.advance(7_000);
    const { services = [], totals, draining } = await ask('?service=shop/cart');
    expect(services.map(({ name }) => name)).to.deep.equal(['shop/cart']);
    const [server] = services[0]?.virtualServers ?? [];
    expect(server).to.deep.include({ address: 'TCP 172.20.1.1:80', kind: 'cluster', programmed: true });
    const [active, drains] = (server?.realServers ?? []).toSorted((a, b) => (a.state < b.state ? -1 : 1));
    expect(active).to.deep.equal({ address: '10.180.0.5:8080', state: 'active', weight: 1, active: 0, inactive: 0 });
    expect(drains).to.deep.include({ address: '10.180.1.5:8080', state: 'draining', weight: 0, active: 4 });
    expect(drains?.drainingSeconds).to.be.within(7, 10);
    expect(totals.draining).to.equal(1);
    expect(draining).to.have.length(1);
    expect(draining[0]).to.deep.include({ virtualServer: 'TCP 172.20.1.1:80', realServer: '10.180.1.5:8080' });
  });

  it('has no page for a Service that is not served', async () => {
    await begin();
    const { status, body } = await node.ask('metrics', '/status?service=shop/none');
    expect([status, body]).to.deep.equal([404, 'no such Service is served\n']);
  });

  it('reads the kernel once for all that ask within a second, and tells of every Service', async () => {
    await begin();
    let reads = 0;
    const readText = node.kernel.readText.bind(node.kernel);
    node.kernel.readText = async (path) => {
      if (path === '/proc/net/ip_vs') reads += 1;
      return readText(path);
    };
    const answers = await Promise.all(['all', 'all', 'shop/cart'].map((service) => ask(`?service=${service}`)));
    expect(answers[0]?.services?.map(({ name }) => name)).to.deep.equal(['shop/cart', 'shop/other-1']);
    expect(reads).to.equal(1);
    await node.advance(1_000);
    await ask('?service=all');
    expect(reads).to.equal(2);
  });

  it('tells of a Service in quarantine why, and when it is tried next', async () => {
    node.kernel.ipvs.refuse('10.180.1.5:8080');
    await begin();
    await node.advance(120_000);
    const { quarantine, passes } = await ask();
    expect(quarantine.map(({ service }) => service).toSorted()).to.deep.equal(['shop/cart', 'shop/other-1']);
    expect(quarantine[0]?.failures).to.be.at.least(3);
    expect(quarantine[0]?.nextTryInSeconds).to.be.within(0, 300);
    expect(quarantine[0]?.why).to.match(/^real server 10\.180\.1\.5:8080 of TCP 172\.20\.\d\.1:80: /);
    expect(passes.notable[0]?.errors[0]).to.match(/^shop\/.*: real server /);
    node.kernel.ipvs.refuse();
    await node.apply([...cart({ affinitySeconds: 600 }, [ELSEWHERE]), ...otherService(1)], 400_000);
    expect((await ask()).quarantine).to.deep.equal([]);
  });

  it('tells what others had changed', async () => {
    await begin();
    node.observers.drifted(['IPv4 set KUBE-CLUSTER-IP']);
    expect((await ask()).drift.noticed.map(({ things }) => things)).to.deep.equal([['IPv4 set KUBE-CLUSTER-IP']]);
  });

  it('counts a pass that failed, and says why', async () => {
    await begin();
    node.failing.add('ipvsadm');
    node.failing.add('file');
    await node.advance(31_000);
    const { passes } = await ask();
    expect(passes.failed).to.be.at.least(1);
    expect(passes.latest?.errors[0]).to.match(/EIO|did not end/);
    expect(passes.notable[0]).to.deep.equal(passes.latest);
  });
});
