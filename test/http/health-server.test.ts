import { expect } from 'chai';
import { nodeObject } from '../kernel/cluster-objects.ts';
import { cart } from '../reports/cart.ts';
import { ObservedNode } from './observed-node.ts';

const KUBE_PROXY =
  '---\napiVersion: ipvs-proxier.dev/v1alpha1\nkind: IPVSProxierConfiguration\nbehaviour: kube-proxy\n';

describe('test/http/health-server', () => {
  let node: ObservedNode;
  const nodeA = nodeObject('node-a', { addresses: ['192.168.0.10'] });

  async function start(configuration = ''): Promise<void> {
    node = new ObservedNode({ configuration });
    await node.serving.start();
  }

  afterEach(() => node.stop());

  it('R142: 503 until the first pass succeeds, bad after two failures in a row, good after an idle hour', async () => {
    await start();
    expect((await node.health())[0]).to.equal(503);
    node.failing.add('iptables-restore');
    await node.apply(cart({}), 0);
    await node.listed();
    expect((await node.health())[0]).to.equal(503);
    await node.advance(1_000);
    expect((await node.health())[0]).to.equal(503);
    node.failing.clear();
    await node.advance(2_000);
    expect(await node.health()).to.deep.equal([200, 200]);
    await node.advance(3_600_000);
    expect(await node.health()).to.deep.equal([200, 200]);
    node.failing.add('iptables-save');
    await node.advance(30_000);
    expect((await node.health())[0]).to.equal(200);
    await node.advance(1_000);
    expect((await node.health())[0]).to.equal(503);
    node.failing.clear();
    await node.advance(2_000);
    expect((await node.health())[0]).to.equal(200);
  });

  it('is live while it fails at the start, until a pass has been waited for twice the period of passes', async () => {
    await start();
    node.failing.add('iptables-restore');
    await node.apply(cart({}), 0);
    await node.listed();
    expect(await node.health()).to.deep.equal([503, 200]);
    await node.advance(59_999);
    expect((await node.health())[1]).to.equal(200);
    await node.advance(1);
    expect((await node.health())[1]).to.equal(503);
  });

  it('is healthy before the first pass under the behaviour of kube-proxy, and turns bad by lateness alone', async () => {
    await start(KUBE_PROXY);
    await node.apply([nodeA], 0);
    expect(await node.health()).to.deep.equal([200, 200]);
    node.failing.add('iptables-restore');
    await node.apply(cart({}), 0);
    await node.listed();
    await node.advance(59_000);
    expect(await node.health()).to.deep.equal([200, 200]);
    await node.advance(1_000);
    expect(await node.health()).to.deep.equal([503, 503]);
  });

  it('turns bad when the kernel cannot be read at all', async () => {
    await start();
    await node.apply(cart({}), 0);
    await node.listed();
    node.failing.add('file');
    await node.advance(31_000);
    expect((await node.health())[0]).to.equal(503);
  });

  for (const [why, changed] of [
    [
      'has the taint of the autoscaler',
      { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', value: '1', effect: 'NoSchedule' }] } },
    ],
    ['is being deleted', { metadata: { name: 'node-a', deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ] as const) {
    it(`R144: healthz is 503 and livez stays 200 while the Node ${why}`, async () => {
      await start();
      await node.apply([nodeA], 0);
      await node.listed();
      expect(await node.health()).to.deep.equal([200, 200]);
      await node.apply([{ ...nodeA, ...changed }]);
      expect(await node.health()).to.deep.equal([503, 200]);
      const { body } = await node.ask('health', '/healthz');
      expect(JSON.parse(body)).to.include({ nodeEligible: false, healthy: true });
      await node.apply([nodeA]);
      expect(await node.health()).to.deep.equal([200, 200]);
    });
  }

  it('does not care for other taints, cordons and the label that excludes from load balancers', async () => {
    await start();
    const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': '' };
    const spec = { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] };
    await node.apply([{ ...nodeA, metadata: { name: 'node-a', labels }, spec }], 0);
    await node.listed();
    expect(await node.health()).to.deep.equal([200, 200]);
  });

  it('is not eligible while the own Node is not known, and after it was deleted', async () => {
    await start();
    await node.listed();
    expect(await node.health()).to.deep.equal([503, 200]);
    await node.apply([nodeA]);
    expect(await node.health()).to.deep.equal([200, 200]);
    await node.apply([]);
    expect(await node.health()).to.deep.equal([503, 200]);
  });

  it('answers with keys in the order of kube-proxy, and with its headers', async () => {
    await start();
    await node.apply([nodeA], 0);
    await node.listed();
    await node.advance(1_500);
    const { status, headers, body } = await node.ask('health', '/healthz', { method: 'POST', body: 'x' });
    const family = '{"lastUpdated":"2026-01-01T00:00:00Z","healthy":true}';
    expect([status, body]).to.deep.equal([
      200,
      `{"lastUpdated":"2026-01-01T00:00:01.5Z","currentTime":"2026-01-01T00:00:01.5Z","nodeEligible":true,"healthy":true,"status":{"IPv4":${family},"IPv6":${family}}}`,
    ]);
    expect(headers.get('content-type')).to.equal('application/json');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    const live = await node.ask('health', '/livez?verbose');
    expect(live.body).to.not.include('nodeEligible');
    expect(JSON.parse(live.body)).to.include({ healthy: true });
  });

  it('tells when it was last well while it is not, and of no family before the first time', async () => {
    await start();
    const before = JSON.parse((await node.ask('health', '/healthz')).body);
    expect(before).to.deep.equal({
      lastUpdated: '0001-01-01T00:00:00Z',
      currentTime: '2026-01-01T00:00:00Z',
      nodeEligible: false,
      healthy: false,
    });
    await node.apply([nodeA], 0);
    await node.listed();
    node.failing.add('ip6tables-save');
    await node.advance(40_000);
    const after = JSON.parse((await node.ask('health', '/healthz')).body);
    expect(after).to.deep.include({ lastUpdated: '2026-01-01T00:00:37Z', healthy: false });
    expect(after.status.IPv6).to.deep.equal({ lastUpdated: '2026-01-01T00:00:00Z', healthy: false });
    expect(after.status.IPv4.healthy).to.equal(true);
  });

  for (const path of ['/', '/healthz/', '/readyz', '/metrics']) {
    it(`has nothing at ${path}`, async () => {
      await start();
      expect((await node.ask('health', path)).status).to.equal(404);
    });
  }
});
