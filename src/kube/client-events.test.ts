import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiServer, startApiServer } from '../../test/apiserver/server.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { openTransport } from './client.ts';
import { type EventsClient, eventsClient } from './client-events.ts';
import type { ApiTransport } from './client-transport.ts';

describe('kube/client-events', () => {
  let api: ApiServer;
  let clock: SteppedClock;
  let directory: string;
  let transport: ApiTransport;
  let events: EventsClient;
  const body = (name: string) => ({ metadata: { name, namespace: 'shop' }, note: 'hello', reason: 'Test' });

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'client-events-'));
    api = await startApiServer({ scheme: 'http' });
    clock = new SteppedClock();
    writeFileSync(join(directory, 'kubeconfig'), api.kubeconfig());
    const opened = openTransport({ kubeconfig: join(directory, 'kubeconfig'), master: '', userAgent: '', clock });
    if (!opened.ok) throw new Error(opened.error.message);
    transport = opened.value;
    events = eventsClient(transport, clock);
  });
  afterEach(async () => {
    transport.close();
    await api.stop();
    rmSync(directory, { recursive: true });
  });

  it('stores an Event, once, and changes fields of it', async () => {
    expect(await events.create('shop', body('a'))).to.deep.equal({ kind: 'stored' });
    expect(await events.create('shop', body('a'))).to.deep.equal({ kind: 'stored' });
    expect(await events.patch('shop', 'a', { series: { count: 2 } })).to.deep.equal({ kind: 'stored' });
    const [stored, ...others] = api.list('Event');
    expect([stored?.metadata.namespace, stored?.series, others]).to.deep.equal(['shop', { count: 2 }, []]);
  });

  it('tells an Event that is gone from a server that is away or says no', async () => {
    expect(await events.patch('shop', 'none', {})).to.deep.equal({ kind: 'gone' });
    api.fault({ effect: { kind: 'refuse', status: 403 } });
    expect(await events.create('shop', body('a'))).to.have.property('kind', 'refused');
    api.fault({ effect: { kind: 'refuse', status: 429, retryAfterSeconds: 7 } });
    expect(await events.create('shop', body('a'))).to.include({ kind: 'away', retryAfterMs: 7000 });
    await api.stopAccepting();
    expect(await events.create('shop', body('a'))).to.have.property('kind', 'away');
  });

  it('gives up on a server that says nothing for half a minute', async () => {
    api.fault({ effect: { kind: 'hang' } });
    const asked = api.requests.next(({ status }) => status === 0);
    const creating = events.create('shop', body('a'));
    await asked;
    await clock.advance(30_000);
    expect(await creating).to.have.property('kind', 'away');
    expect(clock.pending()).to.deep.equal([]);
  });
});
