import { once } from 'node:events';
import { Agent, createServer, type RequestListener, type Server } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { exchange } from './client-exchange.ts';
import { callJson } from './client-transport.ts';

describe('kube/client-exchange', () => {
  let server: Server;
  let agent: Agent;
  let closed: Promise<void>;
  const request = { method: 'GET', path: '/x' } as const;
  const sink = { chunk: () => {} };

  async function serve(listener: RequestListener): Promise<string> {
    server = createServer(listener);
    closed = new Promise<void>((resolve) => {
      server.on('connection', (socket) => socket.on('error', () => {}).on('close', () => resolve()));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  beforeEach(() => {
    agent = new Agent({ keepAlive: true });
  });
  afterEach(() => {
    agent.destroy();
    server.close();
  });

  /** Writes as long as anyone reads. */
  const endless =
    (status: number): RequestListener =>
    (_, response) => {
      response.writeHead(status);
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    };

  it('reads no more than 64 KiB of an answer that says no, and breaks it off', async () => {
    const url = await serve(endless(500));
    const sent = await exchange({ server: url, agent, headers: {} }, request, sink);
    expect(sent).to.deep.equal({
      ok: false,
      error: { kind: 'refused', status: 500, reason: '', message: 'x'.repeat(200) },
    });
    await closed;
  });

  it('breaks an answer off that is longer than its reader takes', async () => {
    const url = await serve(endless(200));
    const transport = {
      send: (asked: typeof request, to: typeof sink) => exchange({ server: url, agent, headers: {} }, asked, to),
      close: () => {},
    };
    const answer = await callJson(transport as never, request, () => {}, 1_000_000);
    const message = 'the answer is longer than 1000000 bytes';
    expect(answer).to.deep.equal({ ok: false, error: { kind: 'malformed', url: '/x', message } });
    await closed;
  });

  const zipped = gzipSync('{"items":[]}');
  for (const status of [200, 500]) {
    for (const [name, body] of [
      ['cut off', zipped.subarray(0, -12)],
      ['empty', ''],
      ['none', 'none'],
    ] as const) {
      it(`tells of a zipped answer ${status} that is ${name}`, async () => {
        const url = await serve((_, response) => {
          response.writeHead(status, { 'Content-Encoding': 'gzip' }).end(body);
        });
        const sent = await exchange({ server: url, agent, headers: {} }, request, sink);
        expect(sent).to.have.nested.property('error.kind', 'unreachable');
      });
    }
  }

  it('tells of headers that cannot be sent', async () => {
    const url = await serve(endless(200));
    const sent = await exchange({ server: url, agent, headers: { Odd: 'a\nb' } }, request, sink);
    const message = 'Invalid character in header content ["Odd"]';
    expect(sent).to.deep.equal({ ok: false, error: { kind: 'unreachable', url: `${url}/x`, message } });
  });

  for (const [name, options] of [
    ['an authority', { ca: 'none' }],
    ['a certificate', { cert: 'none', key: 'none' }],
    ['a key', { cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', key: 'none' }],
  ] as const) {
    it(`tells of ${name} that is none`, async () => {
      await serve(endless(200));
      const https = new HttpsAgent(options);
      const sent = await exchange({ server: 'https://127.0.0.1:1', agent: https, headers: {} }, request, sink);
      expect(sent).to.have.nested.property('error.kind', 'unreachable');
    });
  }
});
