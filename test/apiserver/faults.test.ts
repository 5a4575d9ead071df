import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { callApi } from './call-api.ts';
import { makeCertificates } from './certificates.ts';
import { type ApiServer, startApiServer } from './server.ts';

describe('test/apiserver/server: faults, token and log', () => {
  let api: ApiServer;
  const path = '/api/v1/services';
  const outcome = (request: Promise<{ status: number }>) =>
    request.then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code,
    );

  beforeEach(async () => {
    api = await startApiServer({ token: 'secret', addresses: ['127.0.0.1', '::1'] });
  });
  afterEach(() => api.stop());
  const get = (headers: Readonly<Record<string, string>> = {}) =>
    callApi(api, { path, headers: { Authorization: 'Bearer secret', ...headers } });

  it('asks for its token, and for the new one after a change', async () => {
    expect((await callApi(api, { path })).body).to.include({ kind: 'Status', code: 401, reason: 'Unauthorized' });
    expect((await get()).status).to.equal(200);
    api.setToken('rotated');
    expect((await get()).status).to.equal(401);
    expect((await get({ Authorization: 'Bearer rotated' })).status).to.equal(200);
  });

  it('refuses the next requests that match, with Retry-After', async () => {
    api.fault({
      effect: { kind: 'refuse', status: 429, retryAfterSeconds: 7 },
      times: 2,
      matching: ({ verb }) => verb === 'list',
    });
    const first = await get();
    expect(first.status).to.equal(429);
    expect(first.headers).to.include({ 'retry-after': '7' });
    expect(await outcome(get())).to.equal(429);
    expect(await outcome(get())).to.equal(200);
  });

  it('resets connections, and stays silent when told to', async () => {
    api.fault({ effect: { kind: 'reset' } });
    expect(await outcome(get())).to.equal('ECONNRESET');
    api.fault({ effect: { kind: 'hang' } });
    const logged = api.requests.next(({ status }) => status === 0);
    const hanging = outcome(get());
    await logged;
    await api.stopAccepting();
    expect(await hanging).to.equal('ECONNRESET');
  });

  it('refuses connections until told to accept them again, on the same port', async () => {
    await api.stopAccepting();
    expect(await outcome(get())).to.equal('ECONNREFUSED');
    await api.startAccepting();
    expect(await outcome(get())).to.equal(200);
  });

  it('shows a new certificate on new connections, and asks for one of its clients', async () => {
    const old = api.ca;
    expect((await get()).status).to.equal(200);
    const own = await makeCertificates([]);
    await api.renewCertificates(own.ca);
    expect(await outcome(callApi({ ...api, ca: old }, { path }))).to.match(/CERT|SIGNATURE|SELF_SIGNED|UNABLE/);
    expect(await outcome(get())).to.equal(401);
  });

  it('says nothing more on any connection when it falls silent, and is heard on new ones later', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    await once(socket, 'connect');
    api.fallSilent();
    const logged = api.requests.next(({ status }) => status === 0);
    const hanging = outcome(get());
    await logged;
    api.speak();
    expect(await outcome(get())).to.equal(200);
    expect(socket.destroyed).to.equal(false);
    socket.destroy();
    await api.stopAccepting();
    expect(await hanging).to.equal('ECONNRESET');
  });

  it('sends last words before it breaks watches, and any text on the watches of one resource', async () => {
    const plain = await startApiServer({ scheme: 'http' });
    const watch = async (plural: string) => {
      const response = await fetch(`${plain.url}/api/v1/${plural}?watch=true&resourceVersion=1`);
      return response.body?.pipeThrough(new TextDecoderStream()).getReader();
    };
    const [services, nodes] = [await watch('services'), await watch('nodes')];
    plain.writeToWatches('to services', 'services');
    expect((await services?.read())?.value).to.equal('to services');
    plain.cutWatches('last words');
    expect((await nodes?.read())?.value).to.equal('last words');
    const ended = await nodes?.read().then(
      () => 'ended',
      () => 'broken',
    );
    expect(ended).to.equal('broken');
    await plain.stop();
  });

  it('sends the same body in small pieces', async () => {
    api.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'grün', annotations: { note: 'ä€😀' } },
      spec: {},
    });
    const whole = await get();
    api.slowBodies(3);
    expect((await get()).body).to.deep.equal(whole.body);
  });

  it('logs and counts requests', async () => {
    await get({ 'User-Agent': 'probe/1' });
    const [request] = api.requests.all;
    expect(request).to.include({
      method: 'GET',
      path,
      status: 200,
      userAgent: 'probe/1',
      verb: 'list',
      resource: 'services',
    });
    expect(request?.atMs).to.be.closeTo(Date.now(), 60_000);
    expect([api.requests.count('list', 'services'), api.requests.count('watch', 'services')]).to.deep.equal([1, 0]);
  });

  it('has a certificate that is good for its IPv6 address and for localhost', async () => {
    const port = new URL(api.url).port;
    for (const host of ['[::1]', 'localhost']) {
      const status = await outcome(
        callApi(
          { ...api, url: `https://${host}:${port}` },
          { path: '/healthz', headers: { Authorization: 'Bearer secret' } },
        ),
      );
      expect(status).to.equal(200);
    }
  });

  it('goes on when a client breaks off in the middle of its body, or sends a malformed path', async () => {
    const plain = await startApiServer({ scheme: 'http' });
    const socket = connect(Number(new URL(plain.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`);
    socket.resetAndDestroy();
    expect((await callApi(plain, { path: `${path}/%zz` })).status).to.equal(404);
    await plain.stop();
  });

  it('serves plain HTTP when asked to', async () => {
    const plain = await startApiServer({ scheme: 'http' });
    expect(plain.url).to.match(/^http:/);
    expect((await callApi(plain, { path })).status).to.equal(200);
    await plain.stop();
  });
});
