import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ChaosNode } from './chaos-node.ts';
import { LIST_VERSION, type OddAnswers, type OddServer, startOddServer } from './odd-server.ts';

type Answer = NonNullable<OddAnswers['watch']>;

describe('test/chaos/odd-server', function () {
  this.timeout(30_000);
  let server: OddServer;
  let node: ChaosNode;
  let fromMs: number;

  afterEach(async () => {
    await node.stop();
    server.stop();
  });

  /** A node that has asked this server for 35 s; by its own clock, which the server uses too. */
  async function ask(answers: OddAnswers): Promise<void> {
    server = await startOddServer(answers, () => node.clock.nowMs());
    node = new ChaosNode({ kubeconfig: server.kubeconfig });
    fromMs = node.clock.nowMs();
    await new Promise<void>((resolve) => node.clock.after(35_000, resolve));
  }

  const within = (forMs: number) => server.requestsMs.filter((ms) => ms < fromMs + forMs).length;

  /** It begins with 4 lists and 4 watches, and goes on with one request every 2 s; a watch follows its list at once. */
  function expectCalm(): void {
    expect(within(10_000), 'requests in the first 10 s').to.be.within(4, 10);
    expect(within(35_000), 'requests in the first 35 s').to.be.at.most(26);
  }

  const status =
    (code: number, headers: Readonly<Record<string, string>> = {}): Answer =>
    (response) =>
      response.writeHead(code, headers).end();
  const text =
    (body: string): Answer =>
    (response) =>
      response.end(body);
  const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
  const bookmark = (version: string) => event('BOOKMARK', { metadata: { resourceVersion: version } });
  let version = Number(LIST_VERSION);

  const watches: readonly (readonly [string, Answer])[] = [
    ['end in the middle of the first line', text('{"type":"ADDED","object":{"metadata":{"na')],
    ['are a page of HTML', text('<html>login</html>')],
    ['end after an empty line', text('\n')],
    ['end after a bookmark', text(bookmark(LIST_VERSION))],
    [
      'end after a newer bookmark each',
      (response) => {
        version += 1;
        response.end(bookmark(`${version}`));
      },
    ],
    ['are lists', text('{"kind":"List","metadata":{"resourceVersion":"100"},"items":[]}\n')],
    ['have events of an unknown type', text(event('MOVED', { metadata: { name: 'x', resourceVersion: '101' } }))],
    ['begin with an ERROR event 500', text(event('ERROR', { kind: 'Status', code: 500, reason: 'InternalError' }))],
    ['begin with an ERROR event 410', text(event('ERROR', { kind: 'Status', code: 410, reason: 'Expired' }))],
    ['begin with a bookmark that is older than the list', (response) => response.write(bookmark('99'))],
    ['are answered 204', status(204)],
    ['are answered 302', status(302, { Location: '/login' })],
    ['are answered 404', status(404)],
    ['are answered 410', status(410)],
    ['are answered 429', status(429)],
    ['are reset before an answer', (_, { socket }) => socket.destroy()],
    [
      'are reset as soon as they are accepted',
      (response, { socket }) => {
        response.flushHeaders();
        setImmediate(() => socket.destroy());
      },
    ],
    ['end after 2 s without a word', (response) => endAfter(response, 2000)],
    [
      'are reset after 2 s',
      (response, { socket }) => node.clock.after(2000, () => socket.destroy()) && response.flushHeaders(),
    ],
  ];
  for (const [name, watch] of watches) {
    it(`does not storm a server whose watches ${name}, and tells of it once`, async () => {
      await ask({ watch });
      expectCalm();
      expect(node.told.filter((line) => line.startsWith('recovered'))).to.deep.equal([]);
      const told = node.told.filter((line) => line.startsWith('trouble'));
      expect(new Set(told.map((line) => line.split(':')[0]))).to.have.property('size', told.length);
      expect(told).to.have.length.within(1, 4);
    });
  }

  it('does not storm a server whose watches end after a second each, though they bring something', async () => {
    await ask({
      watch: (response) => {
        version += 1;
        response.write(bookmark(`${version}`));
        endAfter(response, 1500);
      },
    });
    expectCalm();
  });

  const thing = { metadata: { name: 'a', resourceVersion: '1' } };
  const page = (next: string, items: readonly object[]) =>
    text(JSON.stringify({ metadata: { resourceVersion: '1', continue: next }, items }));
  const lists: readonly (readonly [string, Answer])[] = [
    ['are a page of HTML', text('<html>login</html>')],
    ['are answered 302', status(302, { Location: '/login' })],
    ['are answered 403', status(403)],
    ['are answered 429 with a Retry-After of a month', status(429, { 'Retry-After': '2592000' })],
    ['are answered 503', status(503)],
    ['are reset', (_, { socket }) => socket.destroy()],
    ['end before they are complete', text('{"metadata":{"resourceVersion":"1"},"items":[')],
    [
      'are answered 410 from the second page on',
      (response, request) =>
        (request.url?.includes('resourceVersion=0') ? page('more', [thing]) : status(410))(response, request),
    ],
    ['have empty pages for ever', page('more', [])],
    ['have the same page for ever', page('more', [thing])],
  ];
  for (const [name, list] of lists) {
    it(`does not storm a server whose lists ${name}`, async () => {
      await ask({ list });
      expectCalm();
      expect(node.told.filter((line) => line.startsWith('trouble'))).to.have.lengthOf(4);
    });
  }

  function endAfter(response: ServerResponse, ms: number): void {
    response.flushHeaders();
    node.clock.after(ms, () => response.end());
  }
});
