import { expect } from 'chai';
import { SteppedClock, settle } from '../../test/stepped-clock.ts';
import { type EventOutcome, EventRecorder } from './events.ts';
import type { ReportedEvent } from './events-body.ts';

interface StoredEvent {
  readonly metadata: { readonly name: string };
  readonly note: string;
  readonly series?: { readonly count: number };
}

describe('observe/events', () => {
  let clock: SteppedClock;
  let recorder: EventRecorder;
  let bodies: StoredEvent[];
  let told: string[];
  let outcomes: EventOutcome[];

  const cart = { kind: 'Service', namespace: 'shop', name: 'cart', uid: 'u-1' } as const;
  const event = (note: string, more: Partial<ReportedEvent> = {}): ReportedEvent => {
    return { regarding: cart, type: 'Warning', reason: 'RefusedByKernel', action: 'Program', note, ...more };
  };
  const away: EventOutcome = { kind: 'away', message: 'ECONNREFUSED' };

  beforeEach(() => {
    clock = new SteppedClock();
    bodies = [];
    told = [];
    outcomes = [];
    const answer = async (): Promise<EventOutcome> => outcomes.shift() ?? { kind: 'stored' };
    recorder = new EventRecorder({
      store: {
        create: (namespace, body) => {
          bodies.push(body as StoredEvent);
          told.push(`create in ${namespace}: ${(body as StoredEvent).note}`);
          return answer();
        },
        patch: (namespace, name, body) => {
          const known = bodies.some(({ metadata }) => metadata.name === name) ? 'it' : name;
          told.push(`patch ${known} in ${namespace}: ${(body as StoredEvent).series?.count}`);
          return answer();
        },
      },
      clock,
      wallMs: () => 1_700_000_000_123 + clock.nowMs(),
      source: { controller: 'kube-proxy', instance: 'ipvs-proxier-node-a' },
      trouble: (message) => told.push(`trouble ${message}`),
      recovered: () => told.push('recovered'),
    });
  });
  afterEach(() => recorder.stop());

  const take = async () => {
    await settle();
    return told.splice(0);
  };

  it('can be waited for until nothing waits to be stored', async () => {
    outcomes = [away];
    await recorder.stored();
    recorder.report(event('a'));
    recorder.report(event('b'));
    const stored = recorder.stored().then(() => told.push('stored'));
    expect(await take()).to.deep.equal(['create in shop: a', 'trouble ECONNREFUSED']);
    await clock.advance(10_000);
    await stored;
    expect(await take()).to.deep.equal(['create in shop: a', 'recovered', 'create in shop: b', 'stored']);
  });

  it('stores an Event as events.k8s.io/v1 wants it', async () => {
    recorder.report(event('left out', { note: 'x'.repeat(2000) }));
    await settle();
    const [{ metadata, note, ...body } = { metadata: { name: '' }, note: '' }] = bodies;
    expect(metadata.name).to.match(/^cart\.[0-9a-f]{16}$/);
    expect(metadata).to.include({ namespace: 'shop' });
    expect(note).to.have.lengthOf(1024);
    expect(body).to.deep.equal({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      eventTime: '2023-11-14T22:13:20.123000Z',
      reportingController: 'kube-proxy',
      reportingInstance: 'ipvs-proxier-node-a',
      type: 'Warning',
      reason: 'RefusedByKernel',
      action: 'Program',
      regarding: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'cart', uid: 'u-1' },
    });
  });

  it('puts Events about a Node into namespace default', async () => {
    recorder.report(event('hello', { regarding: { kind: 'Node', name: 'node-a', uid: 'node-a' } }));
    expect(await take()).to.deep.equal(['create in default: hello']);
  });

  it('counts what happens again, and writes the count the second time, every half hour, and at the end', async () => {
    for (let n = 0; n < 5; n += 1) recorder.report(event('again'));
    expect(await take()).to.deep.equal(['create in shop: again', 'patch it in shop: 5']);
    for (let minute = 0; minute < 33; minute += 1) {
      recorder.report(event('again'));
      await clock.advance(60_000);
    }
    expect(await take()).to.deep.equal(['patch it in shop: 36']);
    await clock.advance(3_600_000);
    expect(await take()).to.deep.equal(['patch it in shop: 38']);
    expect(clock.pending()).to.deep.equal([]);
    recorder.report(event('again'));
    expect(await take()).to.deep.equal(['create in shop: again']);
  });

  it('makes one Event of what every node reports, whose name all of them find, and counts nothing', async () => {
    const shared = event('is also claimed', { sameOnEveryNode: true });
    recorder.report(shared);
    recorder.report(shared);
    expect(await take()).to.deep.equal(['create in shop: is also claimed']);
    await clock.advance(3_600_000);
    recorder.report(shared);
    await settle();
    expect(new Set(bodies.map(({ metadata }) => metadata.name)).size).to.equal(1);
    expect(bodies).to.have.lengthOf(2);
  });

  it('drops what is too much about one object, and lets another one in every five minutes', async () => {
    for (let n = 0; n < 40; n += 1) recorder.report(event(`note ${n}`));
    recorder.report(event('other', { regarding: { ...cart, name: 'other' } }));
    expect(await take()).to.have.lengthOf(26);
    expect(recorder.dropped).to.equal(15);
    await clock.advance(300_000);
    recorder.report(event('later'));
    recorder.report(event('later still'));
    expect(await take()).to.deep.equal(['create in shop: later']);
  });

  it('tries again while the API server is away, tells of it once, and returns at once all the time', async () => {
    outcomes = [away, away];
    recorder.report(event('a'));
    recorder.report(event('b'));
    expect(await take()).to.deep.equal(['create in shop: a', 'trouble ECONNREFUSED']);
    await clock.advance(10_000);
    expect(await take()).to.deep.equal(['create in shop: a']);
    await clock.advance(10_000);
    expect(await take()).to.deep.equal(['create in shop: a', 'recovered', 'create in shop: b']);
  });

  it('gives an Event up after twelve tries', async () => {
    outcomes = Array.from({ length: 12 }, () => away);
    recorder.report(event('a'));
    recorder.report(event('b'));
    await clock.advance(110_000);
    expect((await take()).filter((line) => line.startsWith('create'))).to.deep.equal([
      ...Array.from({ length: 12 }, () => 'create in shop: a'),
      'create in shop: b',
    ]);
    expect(recorder.dropped).to.equal(1);
  });

  it('waits as long as the server asks for', async () => {
    outcomes = [{ ...away, retryAfterMs: 60_000 }];
    recorder.report(event('a'));
    await settle();
    expect(clock.pending()).to.include(60_000);
  });

  it('drops what is refused, and goes on', async () => {
    outcomes = [{ kind: 'refused', message: '403' }];
    recorder.report(event('a'));
    recorder.report(event('b'));
    expect(await take()).to.deep.equal(['create in shop: a', 'trouble 403', 'create in shop: b', 'recovered']);
  });

  it('makes an Event anew that is gone when its count is to be written', async () => {
    recorder.report(event('a'));
    await settle();
    outcomes = [{ kind: 'gone' }];
    recorder.report(event('a'));
    expect(await take()).to.deep.equal(['create in shop: a', 'patch it in shop: 2', 'create in shop: a']);
    expect(bodies[1]).to.have.nested.property('series.count', 2);
    expect(bodies[0]?.metadata.name).to.not.equal(bodies[1]?.metadata.name);
  });

  it('stores nothing any more once it is stopped', async () => {
    outcomes = [away];
    recorder.report(event('a'));
    await settle();
    recorder.stop();
    recorder.report(event('b'));
    await clock.advance(3_600_000);
    expect(await take()).to.deep.equal(['create in shop: a', 'trouble ECONNREFUSED']);
    expect(clock.pending()).to.deep.equal([]);
  });
});
