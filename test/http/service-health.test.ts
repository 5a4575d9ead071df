import { createServer } from 'node:net';
import { expect } from 'chai';
import { endpointJson, type ObjectJson } from '../kernel/cluster-objects.ts';
import { balancedCart, ELSEWHERE, HERE } from '../reports/cart.ts';
import { ask, ObservedNode, type ObservedNodeOptions } from './observed-node.ts';

const LOOPBACK = 'nodePortAddresses: ["127.0.0.0/8", "::1/128"]\n';

/** A port of 127.0.0.1 that nobody listens on. */
function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** `refused` when nobody listens. */
async function statusAt(url: string): Promise<number | 'refused'> {
  try {
    return (await ask(url)).status;
  } catch {
    return 'refused';
  }
}

describe('test/http/service-health', () => {
  let node: ObservedNode;
  let port: number;

  const balanced = (endpoints: readonly ObjectJson[] = [HERE, ELSEWHERE], healthCheckNodePort = port) =>
    balancedCart({ externalTrafficPolicy: 'Local', healthCheckNodePort }, endpoints);

  async function start(objects: readonly ObjectJson[], options: ObservedNodeOptions = { configuration: LOOPBACK }) {
    node = new ObservedNode(options);
    await node.apply(objects, 0);
    await node.listed();
  }

  beforeEach(async () => {
    port = await freePort();
  });
  afterEach(() => node.stop());

  const here = (path = '/') => ask(`http://127.0.0.1:${port}${path}`);

  it('answers byte for byte as kube-proxy does, on any path and to any method', async () => {
    await start(balanced());
    const body =
      '{\n\t"service": {\n\t\t"namespace": "shop",\n\t\t"name": "cart"\n\t},\n\t"localEndpoints": 1,\n\t"serviceProxyHealthy": true\n}';
    for (const [path, method] of [
      ['/', 'GET'],
      ['/any/thing?at=all', 'POST'],
      ['/healthz', 'DELETE'],
    ] as const) {
      const reply = await ask(`http://127.0.0.1:${port}${path}`, { method });
      expect([reply.status, reply.body]).to.deep.equal([200, body]);
      expect(reply.headers.get('content-type')).to.equal('application/json');
      expect(reply.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(reply.headers.get('x-load-balancing-endpoint-weight')).to.equal('1');
    }
  });

  it('counts addresses of ready endpoints on this node, and is 503 without one', async () => {
    const second = endpointJson('10.180.0.6', 'node-a');
    const dying = endpointJson('10.180.0.7', 'node-a', {
      conditions: { ready: false, serving: true, terminating: true },
    });
    await start(balanced([HERE, second, dying, ELSEWHERE]));
    expect((await here()).headers.get('x-load-balancing-endpoint-weight')).to.equal('2');
    await node.apply(balanced([dying, ELSEWHERE]));
    const { status, body, headers } = await here();
    expect([status, JSON.parse(body).localEndpoints]).to.deep.equal([503, 0]);
    expect(headers.get('x-load-balancing-endpoint-weight')).to.equal('0');
  });

  it('R143: turns 503 when the rule tool fails for good, though an endpoint is here', async () => {
    await start(balanced());
    expect((await here()).status).to.equal(200);
    node.failing.add('iptables-save');
    await node.advance(31_000);
    const { status, body } = await here();
    expect(status).to.equal(503);
    expect(JSON.parse(body)).to.include({ localEndpoints: 1, serviceProxyHealthy: false });
    node.failing.clear();
    await node.advance(2_000);
    expect((await here()).status).to.equal(200);
  });

  it('does not care for a Node that is about to go', async () => {
    const leaving = { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler' }] } };
    const [nodeA, ...rest] = balanced();
    await start([{ ...nodeA, ...leaving }, ...rest]);
    expect((await here()).status).to.equal(200);
  });

  it('R101: with nodePortAddresses only the chosen addresses listen', async () => {
    const links = { lo: ['127.0.0.1/8', '127.0.0.2/8'], 'kube-ipvs0': ['127.0.0.3/32'] };
    await start(balanced(), { configuration: 'nodePortAddresses: ["127.0.0.2/31"]\n', links });
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
    const statuses = await Promise.all(addresses.map((address) => statusAt(`http://${address}:${port}/`)));
    expect(statuses).to.deep.equal(['refused', 200, 'refused']);
  });

  it('R101: listens nowhere where no address is chosen, in either family', async () => {
    await start(balanced(), { configuration: 'nodePortAddresses: ["198.51.100.0/24"]\n' });
    expect(await statusAt(`http://127.0.0.1:${port}/`)).to.equal('refused');
    expect(await statusAt(`http://[::1]:${port}/`)).to.equal('refused');
    expect(node.told.filter((line) => line.includes('health check port'))).to.deep.equal([]);
  });

  it('gives each family its own count on the same port', async () => {
    const [nodeA, nodeB, service, slice] = balanced();
    const spec = {
      ...(service?.spec as object),
      clusterIPs: ['172.20.1.1', 'fd00:20::1'],
      ipFamilies: ['IPv4', 'IPv6'],
    };
    const slice6 = {
      ...slice,
      metadata: { ...(slice?.metadata as object), name: 'cart-6' },
      addressType: 'IPv6',
      endpoints: ['fd00:180::1', 'fd00:180::2'].map((address) => endpointJson(address, 'node-a')),
    };
    await start(
      [nodeA, nodeB, { ...service, spec }, slice, slice6].flatMap((each): readonly ObjectJson[] =>
        each ? [each] : [],
      ),
    );
    const weights = await Promise.all(
      ['127.0.0.1', '[::1]'].map(async (host) =>
        (await ask(`http://${host}:${port}/`)).headers.get('x-load-balancing-endpoint-weight'),
      ),
    );
    expect(weights).to.deep.equal(['1', '2']);
  });

  it('closes the port when the Service goes, and moves with it', async () => {
    await start(balanced());
    const moved = await freePort();
    await node.apply(balanced(undefined, moved));
    expect(await statusAt(`http://127.0.0.1:${port}/`)).to.equal('refused');
    expect(await statusAt(`http://127.0.0.1:${moved}/`)).to.equal(200);
    await node.apply([]);
    expect(await statusAt(`http://127.0.0.1:${moved}/`)).to.equal('refused');
  });

  it('tries a port that is taken again after every pass, and tells of it once', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    await start(balanced());
    await node.advance(60_000);
    const said = node.told.filter((line) => line.includes('health check port'));
    expect(said).to.deep.equal(['the health check port cannot be opened; it is tried again']);
    await new Promise<void>((resolve) => {
      taken.close(() => resolve());
    });
    await node.advance(30_000);
    expect((await here()).status).to.equal(200);
  });

  it('leaves open ports alone while passes fail', async () => {
    await start(balanced());
    node.failing.add('ipset');
    await node.apply([]);
    await node.advance(30_000);
    expect(await statusAt(`http://127.0.0.1:${port}/`)).to.equal(503);
  });
});
