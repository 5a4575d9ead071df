import { expect } from 'chai';
import { SteppedClock } from '../stepped-clock.ts';
import { valueAt } from './api-object.ts';
import { callApi, type WatchEvent, watchApi } from './call-api.ts';
import { type ApiServer, startApiServer } from './server.ts';

describe('test/apiserver/server: watches', () => {
  let api: ApiServer;
  let clock: SteppedClock;
  const path = '/api/v1/services?watch=true';
  const apply = (name: string, labels: Readonly<Record<string, string>> = {}) =>
    api.apply({ apiVersion: 'v1', kind: 'Service', metadata: { name, labels }, spec: { ports: [{ port: 80 }] } });
  const summary = ({ type, object }: WatchEvent) =>
    [type, valueAt(object, ['metadata', 'name']), valueAt(object, ['metadata', 'resourceVersion'])]
      .filter((part) => part !== undefined)
      .join(' ');

  async function read(watch: AsyncGenerator<WatchEvent>, count: number): Promise<string[]> {
    const events: string[] = [];
    while (events.length < count) {
      const { value, done } = await watch.next();
      if (done) return [...events, 'end'];
      events.push(summary(value));
    }
    return events;
  }

  /** Begins a watch and waits until the server has it. */
  async function open(
    query: string,
  ): Promise<{ watch: AsyncGenerator<WatchEvent>; first: Promise<IteratorResult<WatchEvent>> }> {
    const watch = watchApi(api, `${path}${query}`);
    const first = watch.next();
    await api.watches.until('services', 1);
    return { watch, first };
  }

  beforeEach(async () => {
    clock = new SteppedClock();
    api = await startApiServer({ clock, historyLimit: 20 });
  });
  afterEach(() => api.stop());

  it('begins with what there is and goes on with what happens', async () => {
    apply('a');
    const watch = watchApi(api, path);
    expect(await read(watch, 1)).to.deep.equal(['ADDED a 2']);
    apply('a', { x: 'y' });
    apply('b');
    api.delete({ kind: 'Service', name: 'a' });
    expect(await read(watch, 3)).to.deep.equal(['MODIFIED a 3', 'ADDED b 4', 'DELETED a 5']);
    await watch.return(undefined);
  });

  it('resumes after a version, across resources', async () => {
    apply('a');
    api.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    apply('b');
    expect(await read(watchApi(api, `${path}&resourceVersion=2`), 1)).to.deep.equal(['ADDED b 4']);
  });

  it('shows objects that enter and leave the selection as added and deleted', async () => {
    apply('a');
    apply('a', { app: 'cart' });
    apply('a', { app: 'cart', more: 'x' });
    apply('a', { app: 'shop' });
    apply('a', { app: 'cart' });
    api.delete({ kind: 'Service', name: 'a' });
    const events = await read(watchApi(api, `${path}&resourceVersion=1&labelSelector=app%3Dcart`), 5);
    expect(events).to.deep.equal(['ADDED a 3', 'MODIFIED a 4', 'DELETED a 5', 'ADDED a 6', 'DELETED a 7']);
  });

  it('keeps to a namespace and to a field selector', async () => {
    apply('a');
    apply('b');
    const inDefault = watchApi(api, '/api/v1/namespaces/default/services?watch=1&fieldSelector=metadata.name%3Db');
    expect(await read(inDefault, 1)).to.deep.equal(['ADDED b 3']);
    await inDefault.return(undefined);
  });

  it('tells of a version that is too old by an ERROR event', async () => {
    apply('a');
    api.compact();
    const watch = watchApi(api, `${path}&resourceVersion=2`);
    const { value } = await watch.next();
    expect(value).to.deep.include({ type: 'ERROR' });
    expect(value).to.have.nested.property('object.code', 410);
    expect(value).to.have.nested.property('object.reason', 'Expired');
    expect((await watch.next()).done).to.equal(true);
  });

  it('forgets the oldest writes beyond its history', async () => {
    for (let n = 0; n < 30; n += 1) apply('a', { n: String(n) });
    expect(await read(watchApi(api, `${path}&resourceVersion=2`), 1)).to.deep.equal(['ERROR']);
    expect(await read(watchApi(api, `${path}&resourceVersion=30`), 1)).to.deep.equal(['MODIFIED a 31']);
  });

  it('sends bookmarks every minute and on demand, to those who take them', async () => {
    const { watch, first } = await open('&resourceVersion=1&allowWatchBookmarks=true');
    api.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    await clock.advance(60_000);
    api.bookmark();
    expect(summary((await first).value)).to.equal('BOOKMARK 2');
    expect(await read(watch, 1)).to.deep.equal(['BOOKMARK 2']);
    await watch.return(undefined);
    await api.watches.until('services', 0);
    const other = await open('&resourceVersion=1');
    api.bookmark();
    apply('a');
    expect(summary((await other.first).value)).to.equal('ADDED a 3');
    await other.watch.return(undefined);
  });

  it('ends a watch cleanly after timeoutSeconds', async () => {
    const { first } = await open('&timeoutSeconds=300');
    await clock.advance(300_000);
    expect((await first).done).to.equal(true);
  });

  it('refuses streamed lists, as a server without that feature', async () => {
    apply('a');
    const { body } = await callApi(api, { path: `${path}&sendInitialEvents=true` });
    expect(body).to.include({ code: 422 });
  });

  it('cuts watches and writes any text to them', async () => {
    const { watch, first } = await open('&resourceVersion=1');
    api.writeToWatches('{"type":"ADDED","object":{"metadata":{"name":"forged"}}}\n');
    expect(summary((await first).value)).to.equal('ADDED forged');
    const failure = watch.next().then(
      () => 'ended',
      () => 'broken',
    );
    api.cutWatches();
    expect(await failure).to.equal('broken');
    await api.watches.until('services', 0);
  });
});
