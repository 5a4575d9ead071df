import { expect } from 'chai';
import { type FakeCall, FakeTransport } from '../../test/apiserver/fake-transport.ts';
import { decodeThing, Recorder } from '../../test/apiserver/recorder.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import type { ApiError } from './client-errors.ts';
import { ListWatch } from './list-watch.ts';
import { RequestPace } from './list-watch-pace.ts';

describe('kube/list-watch of several resources', () => {
  const broken: ApiError = { kind: 'unreachable', url: '', message: 'ECONNRESET' };
  const gone: ApiError = { kind: 'refused', status: 410, reason: 'Expired', message: '' };
  const list = (resourceVersion: string) => ({ metadata: { resourceVersion }, items: [] });
  let clock: SteppedClock;
  let transports: readonly FakeTransport[];
  let listWatches: readonly ListWatch<unknown>[];

  /** Two resources whose watches have just broken off, after they went on for a minute; the waits of the second are longer. */
  beforeEach(async () => {
    clock = new SteppedClock();
    const pace = new RequestPace(clock);
    transports = [new FakeTransport(), new FakeTransport()];
    listWatches = transports.map((transport, index) => {
      const resource = { name: `things-${index}`, path: `/api/v1/things-${index}` };
      const random = () => (index === 0 ? 0.1 : 0.9);
      return new ListWatch({ transport, resource, decode: decodeThing, handler: new Recorder(), clock, random, pace });
    });
    for (const each of listWatches) each.start();
    const watches: FakeCall[] = [];
    for (const transport of transports) {
      await (await transport.next()).answer(list('10'));
      watches.push((await transport.next()).open());
    }
    await clock.advance(60_000);
    for (const watch of watches) await watch.fail(broken);
  });
  afterEach(() => Promise.all(listWatches.map((each) => each.stop())));

  const next = (index: number): Promise<FakeCall> => transports[index]?.next() ?? expect.fail('no such resource');

  it('lists the others anew at once when the version of one was gone after the trouble', async () => {
    await clock.advance(80);
    const first = await next(0);
    expect(first.query).to.include({ watch: 'true', resourceVersion: '10' });
    await first.fail(gone);
    const second = await next(1);
    expect(second.query).to.deep.equal({ limit: '500' });
    await second.answer(list('20'));
    expect((await next(1)).query).to.include({ watch: 'true', resourceVersion: '20' });
    expect((await next(0)).query).to.deep.equal({ limit: '500' });
    expect(listWatches.map(({ counts }) => counts.relists.expired)).to.deep.equal([1, 1]);
  });

  it('has the others go on from where they were when the watch of one goes on', async () => {
    await clock.advance(80);
    (await next(0)).open();
    await clock.advance(1000);
    expect((await next(1)).query).to.include({ watch: 'true', resourceVersion: '10' });
    expect(listWatches.map(({ counts }) => counts.restarts)).to.deep.equal([1, 0]);
  });
});
