import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { ObservedNode } from './observed-node.ts';

describe('test/http/binding', () => {
  let taken: Server;
  let port: number;
  let node: ObservedNode;

  beforeEach(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  afterEach(async () => {
    await node.stop();
    await free();
  });

  const free = () => new Promise<void>((resolve) => void taken.close(() => resolve()));

  for (const server of ['health', 'metrics'] as const) {
    it(`tries the port of the ${server} server again every 5 s when it is taken`, async () => {
      node = new ObservedNode({ ports: { [server]: port } });
      expect(await node.serving.start()).to.deep.equal({ ok: true, value: undefined });
      await until(() => node.told.length > 0);
      expect(node.told).to.deep.equal(['the server cannot listen; it is tried again']);
      expect(node.serving.port(server)).to.equal(undefined);
      await free();
      await node.advance(4_999);
      expect(node.serving.port(server)).to.equal(undefined);
      await node.advance(1);
      await until(() => node.serving.port(server) !== undefined);
      expect((await node.ask(server, '/healthz')).status).to.be.oneOf([200, 503]);
      expect(node.told).to.deep.equal(['the server cannot listen; it is tried again', 'the server listens now']);
    });

    it(`cannot start without the port of the ${server} server when bindAddressHardFail is set`, async () => {
      node = new ObservedNode({ configuration: 'bindAddressHardFail: true\n', ports: { [server]: port } });
      const started = await node.serving.start();
      expect(started.ok).to.equal(false);
      expect(started).to.have.nested.property('error.server', server);
      expect(started)
        .to.have.nested.property('error.message')
        .that.match(new RegExp(`^the ${server} server cannot listen: .*EADDRINUSE`));
    });
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
  }
});
