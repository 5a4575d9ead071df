import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { succeed } from '../model/result.ts';
import { askProxyMode, reachServer } from './reach-server.ts';

describe('apply/reach-server', () => {
  let server: Server;
  let port = 0;
  let mode = 'iptables';
  before(async () => {
    server = createServer((_, response) => response.end(mode));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => server.close());

  it('resolves a host and opens a connection to it', async () => {
    const url = `http://127.0.0.1:${port}`;
    expect(await reachServer(url, 5_000)).to.deep.equal({
      url,
      addresses: succeed(['127.0.0.1']),
      connection: succeed(undefined),
    });
  });

  it('tells what stands in the way', async () => {
    const { addresses, connection } = await reachServer('https://name.invalid:6443', 5_000);
    expect([addresses.ok, connection.ok]).to.deep.equal([false, false]);
    expect(!addresses.ok && addresses.error).to.match(/^name\.invalid has no address: E/);
  });

  it('hears the mode of a proxy, and nothing from anything else', async () => {
    expect(await askProxyMode(port)).to.equal('iptables');
    mode = '<html>';
    expect(await askProxyMode(port)).to.equal(undefined);
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const closed = (free.address() as AddressInfo).port;
    await new Promise((resolve) => free.close(resolve));
    expect(await askProxyMode(closed)).to.equal(undefined);
  });
});
