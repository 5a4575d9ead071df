import { expect } from 'chai';
import type { PassKind } from '../../src/sync/proxier.ts';
import { endpointJson, type ObjectJson, serviceObject, sliceObject } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';

/** What a pass costs, as counts. */
interface Cost {
  /** Command lines of the tools, sorted. */
  readonly tools: readonly string[];
  /** Files of the kernel that were read. */
  readonly files: readonly string[];
  /** Lines of all scripts together. */
  readonly lines: number;
}

async function costOf(node: NodeUnderTest, work: () => Promise<unknown>): Promise<Cost> {
  const { kernel } = node;
  const { readText } = kernel;
  const files: string[] = [];
  kernel.readText = (path) => {
    files.push(path);
    return readText(path);
  };
  kernel.calls.splice(0);
  await work();
  kernel.readText = readText;
  const calls = kernel.calls.splice(0);
  return {
    tools: calls.map(({ tool, args }) => [tool, ...args].join(' ')).sort(),
    files: files.sort(),
    lines: calls.reduce((sum, { input = '' }) => sum + input.split('\n').length - 1, 0),
  };
}

/** So many addresses from one on. */
function addresses(first: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${first}.${index >> 8}.${index & 255}`);
}

/** So many Services with cluster addresses and `ports` ports each; `endpoints` are behind all of them. */
function services(
  count: number,
  { ports = 1, endpoints = ['10.180.1.5'], type = 'ClusterIP' }: Partial<Sketch> = {},
): readonly ObjectJson[] {
  return addresses('172.21', count).flatMap((address, index) => {
    const named = Array.from({ length: ports }, (_, port) => ({
      name: `p${port}`,
      protocol: 'TCP',
      port: 80 + port,
      ...(type === 'NodePort' ? { nodePort: 30_000 + index * ports + port } : {}),
    }));
    return [
      serviceObject(`shop/s${index}`, { type, clusterIPs: [address], ports: named }),
      sliceObject(`shop/s${index}-1`, {
        service: `s${index}`,
        ports: named.map(({ name }, port) => ({ name, protocol: 'TCP', port: 8080 + port })),
        endpoints: endpoints.map((endpoint) => endpointJson(endpoint, 'node-b')),
      }),
    ];
  });
}

interface Sketch {
  readonly ports: number;
  readonly endpoints: readonly string[];
  readonly type: 'ClusterIP' | 'NodePort';
}

describe('test/reports/cost', () => {
  for (const kind of ['normal', 'full'] as const satisfies readonly PassKind[]) {
    it(`R81: a ${kind} pass asks the kernel as often with 1,000 node ports as with 10`, async () => {
      const costs: Cost[] = [];
      for (const count of [10, 1000]) {
        const node = new NodeUnderTest();
        const all = services(count, { type: 'NodePort', endpoints: addresses('10.180', 4) });
        await node.apply(all);
        const changed = services(count, { type: 'NodePort', endpoints: addresses('10.180', 5) }).slice(0, 2);
        const cost = await costOf(node, () => node.apply([...changed, ...all.slice(2)], kind));
        costs.push(cost);
      }
      expect(costs[1]).to.deep.equal(costs[0]);
    }).timeout(60_000);
  }

  it('R83: what external addresses cost grows no faster than they do, in lines and not in processes', async () => {
    const costs: Cost[] = [];
    for (const count of [500, 1000, 2000]) {
      const node = new NodeUnderTest();
      const objects = [
        serviceObject('shop/cart', { externalIPs: addresses('198.18', count) }),
        sliceObject('shop/cart-1', { service: 'cart', endpoints: [endpointJson('10.180.1.5', 'node-b')] }),
      ];
      costs.push(await costOf(node, () => node.apply(objects)));
      expect(node.bound()).to.have.lengthOf(count + 1);
    }
    const [small, middle, large] = costs.map(({ lines }) => lines);
    expect((large ?? 0) - (middle ?? 0)).to.equal(2 * ((middle ?? 0) - (small ?? 0)));
    expect(costs.map(({ tools }) => tools)).to.deep.equal(costs.map(() => costs[0]?.tools));
  }).timeout(60_000);

  it('R85: the first pass over 30,000 ports starts as many processes as over 3, and opens none of them', async () => {
    const costs: Cost[] = [];
    for (const count of [1, 10_000]) {
      const node = new NodeUnderTest();
      const objects = services(count, { ports: 3 });
      costs.push(await costOf(node, () => node.apply(objects)));
      expect(process.getActiveResourcesInfo().filter((name) => /^(TCP|UDP)/.test(name))).to.deep.equal([]);
      expect(node.ipvs()).to.have.lengthOf(count * 3 * 2);
    }
    expect(costs[1]?.tools).to.deep.equal(costs[0]?.tools);
    expect(costs[1]?.files).to.deep.equal(costs[0]?.files);
    // A virtual server, a real server and an entry for each port, two more lines for each address, and the rules.
    expect((costs[1]?.lines ?? 0) - (costs[0]?.lines ?? 0)).to.equal(9_999 * (3 * 3 + 2));
  }).timeout(120_000);

  it('R87: over 5,000 unchanged virtual servers a normal pass reads nothing, a full one all of them at once', async () => {
    const node = new NodeUnderTest();
    await node.apply(services(5000));
    expect(await costOf(node, () => node.pass('normal'))).to.deep.equal({ tools: [], files: [], lines: 0 });
    const full = await costOf(node, () => node.pass('full'));
    expect(full.lines).to.equal(0);
    expect(full.tools.filter((line) => line.startsWith('ipvsadm'))).to.deep.equal([]);
    expect(full.files).to.deep.equal(['/proc/net/ip_vs']);
  }).timeout(60_000);

  it('R87: a drain among 5,000 virtual servers is looked at alone', async () => {
    const node = new NodeUnderTest();
    const all = services(5000, { endpoints: ['10.180.1.5', '10.180.1.6'] });
    await node.apply(all);
    node.kernel.ipvs.connect('-t 172.21.0.0:80', '10.180.1.6:8080', 1);
    node.record([...services(1), ...all.slice(2)]);
    await node.passOnce();
    node.wait(1000);
    expect(await costOf(node, () => node.passOnce())).to.deep.equal({
      tools: ['ipvsadm -Ln -t 172.21.0.0:80'],
      files: [],
      lines: 0,
    });
  }).timeout(60_000);
});
