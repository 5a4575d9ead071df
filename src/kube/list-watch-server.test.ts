import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeThing, Recorder } from '../../test/apiserver/recorder.ts';
import { type ApiServer, startApiServer } from '../../test/apiserver/server.ts';
import { scaledClock } from '../../test/chaos/scaled-clock.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import type { Clock } from '../queue/clock.ts';
import { openTransport } from './client.ts';
import type { ApiTransport } from './client-transport.ts';
import { ListWatch } from './list-watch.ts';

describe('kube/list-watch with an API server', () => {
  const fastClock = scaledClock(40);
  let api: ApiServer;
  let directory: string;
  let transport: ApiTransport;
  let recorder: Recorder;
  let listWatch: ListWatch<unknown>;

  const apply = (name: string, note = '') =>
    api.apply({ kind: 'Service', metadata: { name, annotations: { note } }, spec: { ports: [{ port: 80 }] } });
  const remove = (name: string) => api.delete({ kind: 'Service', name });
  const told = (line: string) => recorder.until(({ lines }) => lines.includes(line));
  const inTrouble = (what: RegExp) => recorder.until(({ lines }) => lines.some((line) => what.test(line)));
  const queries = (verb: string) =>
    api.requests.all.filter((request) => request.verb === verb).map(({ query }) => Object.fromEntries(query));

  /** Without a stepped clock failures are waited after only for the turn, because the random number is 0. */
  function prepare(clock: Clock): void {
    const opened = openTransport({ kubeconfig: join(directory, 'kubeconfig'), master: '', userAgent: 'test', clock });
    if (!opened.ok) throw new Error(opened.error.message);
    transport = opened.value;
    const resource = { name: 'services', path: '/api/v1/services', labelSelector: '!skip' };
    listWatch = new ListWatch({ transport, resource, decode: decodeThing, handler: recorder, clock, random: () => 0 });
  }

  /** Starts the list-watch and waits until its watch has brought something, the Service `first`. */
  async function follow(): Promise<void> {
    listWatch.start();
    await api.watches.until('services', 1);
    apply('first');
    await told('+ first');
    recorder.take();
  }

  async function cutWatch(): Promise<void> {
    const cut = api.watches.until('services', 0);
    api.cutWatches();
    await cut;
  }

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'list-watch-'));
    api = await startApiServer({ token: 'secret' });
    writeFileSync(join(directory, 'token'), 'secret');
    writeFileSync(join(directory, 'kubeconfig'), api.kubeconfig({ tokenFile: 'token' }));
    recorder = new Recorder();
    prepare(fastClock);
  });
  afterEach(async () => {
    await listWatch.stop();
    transport.close();
    await api.stop();
    rmSync(directory, { recursive: true });
  });

  it('follows creations, changes and deletions over one list and one watch', async () => {
    apply('a', 'x');
    await follow();
    apply('a', 'y');
    apply('b');
    remove('a');
    await told('- a');
    expect(recorder.take()).to.deep.equal(['~ a: x → y', '+ b', '- a']);
    expect([api.requests.count('list', 'services'), api.requests.count('watch', 'services')]).to.deep.equal([1, 1]);
  });

  it('takes objects that leave the selection for deleted', async () => {
    apply('a');
    await follow();
    api.apply({ kind: 'Service', metadata: { name: 'a', labels: { skip: 'yes' } } });
    await told('- a');
  });

  it('reads bodies that come in small pieces, cut inside characters', async () => {
    api.slowBodies(3);
    apply('a', 'ä€😀');
    await follow();
    apply('a', '日本語');
    await told('~ a: ä€😀 → 日本語');
  });

  it('reads a long list whole at first and in pages later', async () => {
    for (let n = 0; n < 1199; n += 1) apply(`s-${n}`);
    await follow();
    expect(recorder.things.size).to.equal(1200);
    const again = api.requests.next(({ verb }) => verb === 'watch');
    api.writeToWatches('not JSON\n');
    await again;
    expect(queries('list').map(({ limit, resourceVersion = 'none' }) => [limit, resourceVersion])).to.deep.equal([
      ['500', '0'],
      ['500', 'none'],
      ['500', 'none'],
      ['500', 'none'],
    ]);
    expect(recorder.lines[0]).to.match(/not a JSON object/);
    await told('recovered');
    expect(recorder.lines).to.have.lengthOf(2);
  });

  it('goes on from where it was when the connection breaks, and misses nothing', async () => {
    await follow();
    const { metadata } = apply('a');
    await told('+ a');
    const resumed = api.requests.next(({ verb }) => verb === 'watch');
    await cutWatch();
    apply('b');
    await told('+ b');
    expect((await resumed).query.get('resourceVersion')).to.equal(metadata.resourceVersion);
    expect(api.requests.count('list', 'services')).to.equal(1);
    await told('recovered');
    expect(recorder.lines.filter((line) => !/^trouble/.test(line))).to.deep.equal(['+ a', '+ b', 'recovered']);
  });

  it('lists again after a compaction and tells of the difference, deletions included', async () => {
    for (const name of ['gone', 'stays', 'renewed']) apply(name);
    await follow();
    await api.stopAccepting();
    remove('gone');
    remove('renewed');
    apply('renewed');
    apply('new');
    api.compact();
    await api.startAccepting();
    await told('+ new');
    const changes = recorder.lines.filter((line) => /^[-+~]/.test(line));
    expect(changes).to.deep.equal(['- gone', '+ new', '- renewed', '+ renewed']);
    expect(queries('list').at(-1)).to.not.have.property('resourceVersion');
  });

  it('lives through one compaction after another', async () => {
    await follow();
    for (let n = 0; n < 5; n += 1) {
      await cutWatch();
      api.compact();
      apply(`n-${n}`);
      await told(`+ n-${n}`);
      await api.watches.until('services', 1);
    }
    expect(recorder.things.size).to.equal(6);
  });

  it('lives through an API server that is away and comes back, without a new list', async () => {
    await follow();
    await api.stopAccepting();
    await inTrouble(/ECONNREFUSED|socket hang up|ECONNRESET|aborted/);
    apply('b');
    await api.startAccepting();
    await told('+ b');
    expect(recorder.things.size).to.equal(2);
    expect(api.requests.count('list', 'services')).to.equal(1);
  });

  it('reads a rotated token and goes on', async () => {
    await follow();
    api.setToken('rotated');
    await cutWatch();
    await inTrouble(/401/);
    expect(recorder.things.size).to.equal(1);
    writeFileSync(join(directory, 'token'), 'rotated');
    await told('recovered');
  });

  it('waits as long as an overloaded server asks for', async () => {
    const clock = new SteppedClock();
    prepare(clock);
    api.fault({ effect: { kind: 'refuse', status: 429, retryAfterSeconds: 5 } });
    listWatch.start();
    await inTrouble(/429 .* again in 5000 ms/);
    await clock.advance(4999);
    expect(api.requests.count('list', 'services')).to.equal(1);
    await clock.advance(1);
    await told('listed');
  });

  it('leaves a watch that says nothing, and a server that does not answer', async () => {
    const clock = new SteppedClock();
    prepare(clock);
    await follow();
    const second = api.requests.next(({ verb }) => verb === 'watch');
    await clock.advance(150_000);
    await second;
    apply('a');
    await told('+ a');
    api.fault({ effect: { kind: 'hang' } });
    const third = api.requests.next(({ status }) => status === 0);
    await clock.advance(150_000);
    await third;
    expect(recorder.take()).to.deep.equal(['+ a']);
    await clock.advance(30_000);
    await inTrouble(/did not answer/);
  });

  it('shares connections between resources and leaves no watch behind', async () => {
    const paths = {
      endpointslices: '/apis/discovery.k8s.io/v1/endpointslices',
      leases: '/apis/coordination.k8s.io/v1/leases',
    };
    const others = Object.entries(paths).map(([name, path]) => {
      const options = { decode: decodeThing, handler: new Recorder(), clock: fastClock, random: () => 0 };
      return new ListWatch({ transport, resource: { name, path }, ...options });
    });
    for (const other of others) other.start();
    await follow();
    await Promise.all([api.watches.until('endpointslices', 1), api.watches.until('leases', 1)]);
    expect(api.connections()).to.equal(3);
    await Promise.all([...others, listWatch].map((each) => each.stop()));
    await Promise.all(['services', 'endpointslices', 'leases'].map((plural) => api.watches.until(plural, 0)));
  });
});
