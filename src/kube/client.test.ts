import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiServer, startApiServer } from '../../test/apiserver/server.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import type { Result } from '../model/result.ts';
import { openTransport, type RequestSample } from './client.ts';
import type { ApiError } from './client-errors.ts';
import { type ApiRequest, type ApiTransport, callJson } from './client-transport.ts';

describe('kube/client', () => {
  let api: ApiServer;
  let clock: SteppedClock;
  let directory: string;
  let open: ApiTransport[];
  const samples: RequestSample[] = [];
  const services: ApiRequest = { method: 'GET', path: '/api/v1/services' };

  const file = (name: string) => join(directory, name);
  const connect = (kubeconfig: string, master = ''): ApiTransport => {
    const userAgent = 'ipvs-proxier/test';
    const opened = openTransport({
      kubeconfig,
      master,
      userAgent,
      clock,
      observe: (sample) => void samples.push(sample),
    });
    if (!opened.ok) throw new Error(opened.error.message);
    open.push(opened.value);
    return opened.value;
  };
  const connectWith = (text: string): ApiTransport => {
    writeFileSync(file('kubeconfig'), text);
    return connect(file('kubeconfig'));
  };
  const outcome = (result: Result<unknown, ApiError>) => {
    if (result.ok) return 'ok';
    return result.error.kind === 'refused' ? result.error.status : result.error.kind;
  };
  const call = async (transport: ApiTransport) => outcome(await callJson(transport, services));

  beforeEach(async () => {
    open = [];
    samples.length = 0;
    clock = new SteppedClock();
    directory = mkdtempSync(join(tmpdir(), 'client-'));
    api = await startApiServer({ token: 'secret', clock });
  });
  afterEach(async () => {
    for (const transport of open) transport.close();
    await api.stop();
    rmSync(directory, { recursive: true });
  });

  describe('a kubeconfig', () => {
    it('gives server, authority and token', async () => {
      expect(await call(connectWith(api.kubeconfig()))).to.equal('ok');
      expect(api.requests.all[0]).to.include({ userAgent: 'ipvs-proxier/test' });
    });

    it('may name a token file, relative to itself and with a line end, and a file of the authority', async () => {
      writeFileSync(file('token'), 'secret\n');
      writeFileSync(file('ca.crt'), api.ca ?? '');
      const text = api.kubeconfig({ token: 'outdated', tokenFile: 'token' });
      expect(
        await call(connectWith(text.replace(/certificate-authority-data: .*/, 'certificate-authority: ca.crt'))),
      ).to.equal('ok');
    });

    it('may name the server by an address, which its certificate has to have', async () => {
      const named = (name: string) =>
        call(
          connectWith(api.kubeconfig().replace(/( +)certificate-authority-data:/, `$1tls-server-name: ${name}\n$&`)),
        );
      expect(await named('127.0.0.1')).to.equal('ok');
      expect(await named('192.0.2.1')).to.equal('unreachable');
    });

    it('may be without TLS', async () => {
      const plain = await startApiServer({ scheme: 'http' });
      expect(await call(connectWith(plain.kubeconfig().replace(/.*insecure-skip-tls-verify.*\n/, '')))).to.equal('ok');
      await plain.stop();
    });

    it('yields to --master for the server only', async () => {
      const text = api.kubeconfig({ server: 'https://192.0.2.1' });
      writeFileSync(file('kubeconfig'), text);
      expect(await call(connect(file('kubeconfig'), `${api.url}/`))).to.equal('ok');
    });

    it('is not needed with --master', async () => {
      const plain = await startApiServer({ scheme: 'http' });
      expect(await call(connect('', plain.url))).to.equal('ok');
      expect(await call(connect('', plain.url.replace('http://', '')))).to.equal('ok');
      await plain.stop();
    });

    it('that is missing, no YAML or without a server is an error', () => {
      writeFileSync(file('broken'), '{ nothing: [');
      writeFileSync(file('empty'), 'kind: Config\napiVersion: v1\n');
      writeFileSync(file('odd'), api.kubeconfig({ server: 'ftp://192.0.2.1' }));
      for (const name of ['none', 'broken', 'empty', 'odd']) {
        const opened = openTransport({ kubeconfig: file(name), master: '', userAgent: '', clock });
        expect(opened).to.have.nested.property('error.kind', 'kubeconfig-unusable');
        expect(opened).to.have.nested.property('error.source', file(name));
      }
    });

    it('is replaced by the service account in a pod', async () => {
      const before = { ...process.env };
      const settings = { kubeconfig: '', master: '', userAgent: '', clock };
      delete process.env.KUBERNETES_SERVICE_HOST;
      expect(openTransport(settings)).to.have.nested.property('error.source', 'in-cluster');
      Object.assign(process.env, { KUBERNETES_SERVICE_HOST: '::1', KUBERNETES_SERVICE_PORT: new URL(api.url).port });
      const opened = openTransport(settings);
      process.env = before;
      if (!opened.ok) throw new Error(opened.error.message);
      const result = await callJson(opened.value, services);
      expect(result).to.have.nested.property('error.kind', 'unreachable');
      expect(result).to.have.nested.property('error.url', `https://[::1]:${new URL(api.url).port}/api/v1/services`);
      expect(result)
        .to.have.nested.property('error.message')
        .match(/credentials cannot be read/);
    });
  });

  describe('credentials', () => {
    it('are read again after a 401', async () => {
      writeFileSync(file('token'), 'secret');
      const transport = connectWith(api.kubeconfig({ tokenFile: file('token') }));
      expect(await call(transport)).to.equal('ok');
      api.setToken('rotated');
      writeFileSync(file('token'), 'rotated');
      expect(await call(transport)).to.equal(401);
      expect(await call(transport)).to.equal('ok');
    });

    it('are read again once they are a minute old, with the kubeconfig itself', async () => {
      const transport = connectWith(api.kubeconfig());
      expect(await call(transport)).to.equal('ok');
      writeFileSync(file('kubeconfig'), api.kubeconfig({ token: 'newer' }));
      await clock.advance(59_999);
      expect(await call(transport)).to.equal('ok');
      api.setToken('newer');
      await clock.advance(1);
      expect(await call(transport)).to.equal('ok');
    });

    it('stay as they were while the kubeconfig cannot be read', async () => {
      const transport = connectWith(api.kubeconfig());
      expect(await call(transport)).to.equal('ok');
      writeFileSync(file('kubeconfig'), '{ half: [');
      await clock.advance(60_000);
      expect(await call(transport)).to.equal('ok');
    });

    it('are read again when the connection fails, and after a 403', async () => {
      const transport = connectWith(api.kubeconfig());
      expect(await call(transport)).to.equal('ok');
      await api.renewCertificates();
      api.cutWatches();
      await api.stopAccepting();
      await api.startAccepting();
      expect(await call(transport)).to.equal('unreachable');
      writeFileSync(file('kubeconfig'), api.kubeconfig());
      expect(await call(transport)).to.equal('ok');
      writeFileSync(file('kubeconfig'), api.kubeconfig({ token: 'newer' }));
      api.fault({ effect: { kind: 'refuse', status: 403 } });
      expect(await call(transport)).to.equal(403);
      api.setToken('newer');
      expect(await call(transport)).to.equal('ok');
    });

    it('take over a new authority, and requests under way are not disturbed', async () => {
      const transport = connectWith(api.kubeconfig());
      const watch = callJson(transport, {
        ...services,
        query: { watch: 'true', resourceVersion: '1', timeoutSeconds: '300' },
      });
      await api.watches.until('services', 1);
      const other = await startApiServer({ token: 'secret' });
      writeFileSync(file('kubeconfig'), other.kubeconfig());
      await clock.advance(60_000);
      expect(await call(transport)).to.equal('ok');
      expect(other.requests.count('list', 'services')).to.equal(1);
      await clock.advance(300_000);
      expect(outcome(await watch)).to.equal('ok');
      await other.stop();
    });
  });

  describe('requests', () => {
    it('share one connection one after another', async () => {
      const transport = connectWith(api.kubeconfig());
      for (let n = 0; n < 20; n += 1) expect(await call(transport)).to.equal('ok');
      expect(api.connections()).to.equal(1);
    });

    it('are sent once more when a kept connection turns out to be dead', async () => {
      const transport = connectWith(api.kubeconfig());
      expect(await call(transport)).to.equal('ok');
      api.fault({ effect: { kind: 'reset' } });
      expect(await call(transport)).to.equal('ok');
      api.fault({ effect: { kind: 'reset' }, times: 2 });
      expect(await call(transport)).to.equal('unreachable');
    });

    it('write bodies of any media type', async () => {
      const transport = connectWith(api.kubeconfig());
      const path = '/api/v1/namespaces/shop/services';
      const created = await callJson(transport, {
        method: 'POST',
        path,
        body: { metadata: { name: 'grün' }, spec: {} },
      });
      expect(created).to.have.nested.property('value.metadata.uid');
      const contentType = 'application/merge-patch+json';
      await callJson(transport, {
        method: 'PATCH',
        path: `${path}/gr%C3%BCn`,
        contentType,
        body: { metadata: { labels: { a: 'b' } } },
      });
      expect(api.get({ kind: 'Service', namespace: 'shop', name: 'grün' })).to.have.nested.property(
        'metadata.labels.a',
        'b',
      );
    });

    it('read long answers, which come zipped, and answers in small pieces', async () => {
      for (let n = 0; n < 600; n += 1)
        api.apply({ kind: 'Service', metadata: { name: `s-${n}`, annotations: { note: 'ä€😀' } } });
      const transport = connectWith(api.kubeconfig());
      const whole = await callJson(transport, services);
      expect(whole).to.have.nested.property('value.items').with.length(600);
      api.slowBodies(1001);
      expect(await callJson(transport, services)).to.deep.equal(whole);
    });
  });

  describe('limits', () => {
    const limited = (qps: number, burst: number): ApiTransport => {
      writeFileSync(file('kubeconfig'), api.kubeconfig());
      const settings = { kubeconfig: file('kubeconfig'), master: '', userAgent: '', clock };
      const opened = openTransport({ ...settings, limits: { qps, burst } });
      if (!opened.ok) throw new Error(opened.error.message);
      open.push(opened.value);
      return opened.value;
    };

    for (const [qps, burst, waits] of [
      [2, 3, [500, 1000]],
      [0, 0, []],
      [-1, 1, []],
    ] as const) {
      it(`let ${burst} requests go at once and ${qps} a second after that`, async () => {
        const transport = limited(qps, burst);
        const calls = Array.from({ length: 5 }, () => call(transport));
        expect(clock.pending()).to.deep.equal(waits);
        await clock.advance(1000);
        expect(await Promise.all(calls)).to.deep.equal(['ok', 'ok', 'ok', 'ok', 'ok']);
      });
    }

    it('are those of client-go where none are given', async () => {
      const transport = limited(0, 0);
      const calls = Array.from({ length: 12 }, () => call(transport));
      expect(clock.pending()).to.deep.equal([200, 400]);
      await clock.advance(400);
      await Promise.all(calls);
    });

    it('do not hold watches up, and waiting ends when the caller gives up', async () => {
      const transport = limited(1, 1);
      const controller = new AbortController();
      expect(await call(transport)).to.equal('ok');
      const waiting = callJson(transport, { ...services, signal: controller.signal });
      const query = { watch: 'true', resourceVersion: '1' };
      const watching = callJson(transport, { ...services, query, signal: controller.signal });
      await api.watches.until('services', 1);
      controller.abort();
      expect([outcome(await waiting), outcome(await watching)]).to.deep.equal(['aborted', 'aborted']);
      expect(api.requests.count('list', 'services')).to.equal(1);
    });
  });

  describe('several servers', () => {
    it('are used one after the other, from when on one gives no answer or stands before one that is gone', async () => {
      const plain = { scheme: 'http', token: 'secret' } as const;
      const [first, second] = await Promise.all([startApiServer(plain), startApiServer(plain)]);
      writeFileSync(file('kubeconfig'), first.kubeconfig());
      const otherServers = [second.url];
      const settings = { kubeconfig: file('kubeconfig'), master: '', userAgent: '', clock, otherServers };
      const opened = openTransport(settings);
      if (!opened.ok) throw new Error(opened.error.message);
      open.push(opened.value);
      const served = () => [first, second].map(({ requests }) => requests.count('list', 'services'));
      expect([await call(opened.value), served()]).to.deep.equal(['ok', [1, 0]]);
      first.fault({ effect: { kind: 'refuse', status: 500 } });
      expect([await call(opened.value), await call(opened.value), served()]).to.deep.equal([500, 'ok', [3, 0]]);
      await first.stopAccepting();
      expect([await call(opened.value), await call(opened.value)]).to.deep.equal(['unreachable', 'ok']);
      expect(served()).to.deep.equal([3, 1]);
      await first.startAccepting();
      second.fault({ effect: { kind: 'refuse', status: 503 } });
      expect([await call(opened.value), await call(opened.value), served()]).to.deep.equal([503, 'ok', [4, 2]]);
      await Promise.all([first.stop(), second.stop()]);
    });

    it('must all be of one scheme', () => {
      writeFileSync(file('kubeconfig'), api.kubeconfig());
      const settings = { kubeconfig: file('kubeconfig'), master: '', userAgent: '', clock };
      const opened = openTransport({ ...settings, otherServers: ['http://192.0.2.1'] });
      expect(opened)
        .to.have.nested.property('error.message')
        .match(/192\.0\.2\.1 has another scheme than https:/);
    });
  });

  describe('errors', () => {
    it('carry what the server says, and how long to wait', async () => {
      const transport = connectWith(api.kubeconfig());
      api.fault({ effect: { kind: 'refuse', status: 429, retryAfterSeconds: 3 } });
      expect(await callJson(transport, services)).to.deep.equal({
        ok: false,
        error: {
          kind: 'refused',
          status: 429,
          reason: 'TooManyRequests',
          message: 'refused for a test',
          retryAfterMs: 3000,
        },
      });
      const missing = await callJson(transport, { method: 'GET', path: '/api/v1/nodes/none' });
      expect(missing).to.have.nested.property('error.message', 'nodes "none" not found');
    });

    it('tell a server that is not there from one with a strange certificate', async () => {
      const untrusted = connectWith(
        api.kubeconfig().replace(/certificate-authority-data: .*/, 'tls-server-name: localhost'),
      );
      expect(await callJson(untrusted, services))
        .to.have.nested.property('error.message')
        .match(/certificate/);
      const transport = connectWith(api.kubeconfig());
      await api.stopAccepting();
      expect(await callJson(transport, services))
        .to.have.nested.property('error.message')
        .match(/ECONNREFUSED/);
      await api.startAccepting();
      expect(await call(transport)).to.equal('ok');
    });

    it('tell of answers that are not JSON and of broken bodies', async () => {
      const transport = connectWith(api.kubeconfig());
      expect(outcome(await callJson(transport, { method: 'GET', path: '/healthz' }))).to.equal('malformed');
      const watch = callJson(transport, { ...services, query: { watch: 'true', resourceVersion: '1' } });
      await api.watches.until('services', 1);
      api.cutWatches();
      expect(outcome(await watch)).to.equal('unreachable');
    });

    it('tell when the caller gave up, before and after the answer began', async () => {
      const transport = connectWith(api.kubeconfig());
      expect(outcome(await callJson(transport, { ...services, signal: AbortSignal.abort() }))).to.equal('aborted');
      const controller = new AbortController();
      const watch = callJson(transport, {
        ...services,
        query: { watch: 'true', resourceVersion: '1' },
        signal: controller.signal,
      });
      await api.watches.until('services', 1);
      controller.abort();
      expect(outcome(await watch)).to.equal('aborted');
    });
  });

  it('tells of every request with its status', async () => {
    const transport = connectWith(api.kubeconfig());
    await call(transport);
    await callJson(transport, { method: 'GET', path: '/api/v1/nodes/none' });
    await api.stopAccepting();
    await call(transport);
    expect(samples.map(({ path, status }) => `${path} ${status}`)).to.deep.equal([
      '/api/v1/services 200',
      '/api/v1/nodes/none 404',
      '/api/v1/services undefined',
    ]);
    expect(samples[0]).to.include({ method: 'GET', host: new URL(api.url).host });
  });
});
