import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiServer, startApiServer } from '../../test/apiserver/server.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { openTransport } from './client.ts';
import { type ApiTransport, callJson } from './client-transport.ts';

describe('kube/client through a proxy', () => {
  let api: ApiServer;
  let proxy: ConnectProxy;
  let directory: string;
  let open: ApiTransport[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'client-proxy-'));
    proxy = new ConnectProxy();
    await proxy.listen();
    open = [];
  });
  afterEach(async () => {
    for (const transport of open) transport.close();
    await api.stop();
    await proxy.close();
    rmSync(directory, { recursive: true });
  });

  const call = async (more = '') => {
    const file = join(directory, 'kubeconfig');
    const proxied = `proxy-url: http://127.0.0.1:${proxy.port}`;
    writeFileSync(file, api.kubeconfig().replace(/( +)server:/, `$1${proxied}\n$1${more}\n$&`));
    const opened = openTransport({ kubeconfig: file, master: '', userAgent: '', clock: new SteppedClock() });
    if (!opened.ok) throw new Error(opened.error.message);
    open.push(opened.value);
    const result = await callJson(opened.value, { method: 'GET', path: '/api/v1/services' });
    return result.ok ? 'ok' : result.error;
  };

  for (const [address, host] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ] as const) {
    it(`asks it for ${host} and the port, and checks the certificate of what it comes to`, async () => {
      api = await startApiServer({ token: 'secret', addresses: [address] });
      expect(await call()).to.equal('ok');
      expect(proxy.asked).to.deep.equal([`${host}:${new URL(api.url).port}`]);
      expect(await call('tls-server-name: localhost')).to.equal('ok');
      expect(await call('tls-server-name: 127.0.0.1')).to.equal('ok');
      expect(await call('tls-server-name: 192.0.2.1')).to.have.property('kind', 'unreachable');
      expect(await call('tls-server-name: elsewhere')).to.have.property('kind', 'unreachable');
    });
  }
});

/** Passes on what it is asked to connect to, where that is written as it has to be. Source: RFC 9110, 9.3.6 */
class ConnectProxy {
  readonly asked: string[] = [];
  readonly #server: Server = createServer();
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
    this.#server.on('connect', ({ url = '' }, socket: Socket) => {
      const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(url) ?? [];
      if (port === undefined) return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      this.asked.push(url);
      const onward = connect(Number(port), bracketed ?? plain);
      this.#keep(onward);
      onward.once('connect', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
  }

  close(): Promise<unknown> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => void this.#server.close(resolve));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
