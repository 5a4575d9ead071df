import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApiServer } from '../../test/apiserver/server.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { openTransport } from './client.ts';
import { callJson } from './client-transport.ts';
import { environmentProxy } from './environment-proxy.ts';

describe('kube/environment-proxy', () => {
  const PROXY = 'http://proxy:3128';
  const variables: readonly (readonly [string, Readonly<Record<string, string>>, string | undefined])[] = [
    ['https://api:6443', {}, undefined],
    ['https://api:6443', { HTTPS_PROXY: PROXY }, PROXY],
    ['https://api:6443', { https_proxy: PROXY }, PROXY],
    ['https://api:6443', { HTTPS_PROXY: '', https_proxy: PROXY }, PROXY],
    ['https://api:6443', { HTTP_PROXY: PROXY }, undefined],
    ['http://api:8080', { HTTP_PROXY: PROXY, HTTPS_PROXY: 'http://other' }, PROXY],
    ['https://api:6443', { HTTPS_PROXY: 'proxy:3128' }, PROXY],
    ['https://api:6443', { HTTPS_PROXY: 'socks5://proxy' }, 'socks5://proxy'],
    ['https://localhost:6443', { HTTPS_PROXY: PROXY }, undefined],
    ['https://127.0.0.2', { HTTPS_PROXY: PROXY }, undefined],
    ['https://[::1]:6443', { HTTPS_PROXY: PROXY }, undefined],
  ];
  for (const [server, environment, proxy] of variables) {
    it(`asks ${server} through ${proxy ?? 'none'} for ${JSON.stringify(environment)}`, () =>
      expect(environmentProxy(server, environment)).to.equal(proxy));
  }

  const exceptions: readonly (readonly [string, string, 'through it' | 'past it'])[] = [
    ['https://10.96.0.1', '10.0.0.0/8', 'past it'],
    ['https://11.96.0.1', '10.0.0.0/8', 'through it'],
    ['https://[fd00::1]', 'fd00::/16', 'past it'],
    ['https://api.lan', '10.0.0.0/8', 'through it'],
    ['https://10.96.0.1', 'x, 10.96.0.1', 'past it'],
    ['https://10.96.0.1', '10.96.0.1:443', 'past it'],
    ['https://10.96.0.1:6443', '10.96.0.1:443', 'through it'],
    ['https://[fd00::1]:6443', '[fd00:0::1]:6443', 'past it'],
    ['https://[fd00::1]:6443', 'fd00::1', 'past it'],
    ['https://lan', 'lan', 'past it'],
    ['https://api.lan', 'LAN', 'past it'],
    ['https://api.wlan', 'lan', 'through it'],
    ['https://api.lan', '.lan', 'past it'],
    ['https://lan', '.lan', 'through it'],
    ['https://api.lan', '*.lan', 'past it'],
    ['https://api.lan:6443', 'lan:6443', 'past it'],
    ['https://api.lan:6443', 'lan:443', 'through it'],
    ['https://api.lan', '*', 'past it'],
    ['https://api.lan', ',,:443', 'through it'],
  ];
  for (const [server, noProxy, way] of exceptions) {
    it(`asks ${server} ${way} where NO_PROXY is "${noProxy}"`, () => {
      const wanted = way === 'past it' ? undefined : PROXY;
      expect(environmentProxy(server, { HTTPS_PROXY: PROXY, NO_PROXY: noProxy })).to.equal(wanted);
      expect(environmentProxy(server, { HTTPS_PROXY: PROXY, no_proxy: noProxy })).to.equal(wanted);
    });
  }

  it('leads requests through the proxy, with the TLS of the server', async () => {
    const api = await startApiServer({ token: 'secret' });
    const asked: string[] = [];
    const tunnels: Socket[] = [];
    const proxy = createServer().on('connect', (request, client: Socket) => {
      asked.push(request.url ?? '');
      const server = connect(Number(new URL(api.url).port), '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        server.pipe(client).pipe(server);
      });
      tunnels.push(client, server);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const folder = mkdtempSync(join(tmpdir(), 'proxy-'));
    const kubeconfig = join(folder, 'kubeconfig');
    const text = api.kubeconfig({ server: 'https://api.example:6443' });
    writeFileSync(kubeconfig, text.replace(/( +)certificate-authority-data:/, '$1tls-server-name: localhost\n$&'));
    process.env.HTTPS_PROXY = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const opened = openTransport({ kubeconfig, master: '', userAgent: 'test', clock: new SteppedClock() });
    try {
      if (!opened.ok) throw new Error(opened.error.message);
      const answer = await callJson(opened.value, { method: 'GET', path: '/api/v1/services' });
      expect([answer.ok, asked]).to.deep.equal([true, ['api.example:6443']]);
    } finally {
      delete process.env.HTTPS_PROXY;
      if (opened.ok) opened.value.close();
      for (const socket of tunnels) socket.destroy();
      proxy.close();
      await api.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
