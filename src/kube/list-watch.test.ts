import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { type FakeCall, FakeTransport } from '../../test/apiserver/fake-transport.ts';
import { decodeThing, Recorder } from '../../test/apiserver/recorder.ts';
import { SteppedClock, settle } from '../../test/stepped-clock.ts';
import type { ApiError } from './client-errors.ts';
import { ListWatch } from './list-watch.ts';

describe('kube/list-watch', () => {
  let clock: SteppedClock;
  let transport: FakeTransport;
  let recorder: Recorder;
  let listWatch: ListWatch<unknown>;

  const object = (name: string, resourceVersion: number, note = '', uid = name) => {
    return {
      metadata: { namespace: 'shop', name, uid, resourceVersion: String(resourceVersion), annotations: { note } },
    };
  };
  const list = (resourceVersion: number, items: readonly unknown[], next?: string) => {
    return { metadata: { resourceVersion: String(resourceVersion), continue: next }, items };
  };
  const refused = (
    status: number,
    more: { reason?: string; message?: string; retryAfterMs?: number } = {},
  ): ApiError => {
    return { kind: 'refused', status, reason: '', message: '', ...more };
  };
  const broken: ApiError = { kind: 'unreachable', url: '/api/v1/services', message: 'ECONNRESET' };
  const expiredEvent = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };

  /** Answers the first list and accepts the watch behind it. */
  async function watching(resourceVersion = 10, items: readonly unknown[] = []): Promise<FakeCall> {
    await (await transport.next()).answer(list(resourceVersion, items));
    recorder.take();
    return (await transport.next()).open();
  }

  beforeEach(() => {
    clock = new SteppedClock();
    transport = new FakeTransport();
    recorder = new Recorder();
    const resource = {
      name: 'services',
      path: '/api/v1/services',
      labelSelector: '!skip',
      fieldSelector: 'spec.clusterIP!=None',
    };
    listWatch = new ListWatch({
      transport,
      resource,
      decode: decodeThing,
      handler: recorder,
      clock,
      random: () => 0.5,
    });
    listWatch.start();
  });
  afterEach(() => listWatch.stop());

  describe('listing', () => {
    const selectors = { labelSelector: '!skip', fieldSelector: 'spec.clusterIP!=None' };

    it('lists whatever version the server has, then watches from there with the same selectors', async () => {
      const first = await transport.next();
      expect(first.request).to.include({ method: 'GET', path: '/api/v1/services' });
      expect(first.query).to.deep.equal({ ...selectors, limit: '500', resourceVersion: '0' });
      await first.answer(list(10, [object('a', 3)]));
      expect(recorder.lines).to.deep.equal(['+ a', 'listed']);
      expect((await transport.next()).query).to.deep.equal({
        ...selectors,
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: '10',
        timeoutSeconds: '450',
      });
    });

    it('tells of an empty list too', async () => {
      await (await transport.next()).answer({ metadata: { resourceVersion: '1' }, items: null });
      expect(recorder.lines).to.deep.equal(['listed']);
    });

    it('reads page after page and passes them on together', async () => {
      await (await transport.next()).answer(list(10, [object('a', 1)], 'more'));
      expect(recorder.lines).to.deep.equal([]);
      const second = await transport.next();
      expect(second.query).to.deep.equal({ ...selectors, limit: '500', continue: 'more' });
      await second.answer(list(10, [object('b', 2)]));
      expect(recorder.lines).to.deep.equal(['+ a', '+ b', 'listed']);
    });

    it('reads the list in one piece when its pages expire', async () => {
      await (await transport.next()).answer(list(10, [object('a', 1), object('gone', 1)], 'more'));
      await (await transport.next()).fail(refused(410));
      const whole = await transport.next();
      expect(whole.query).to.deep.equal(selectors);
      await whole.answer(list(12, [object('a', 1)]));
      expect(recorder.lines).to.deep.equal(['+ a', 'listed']);
    });

    it('tries again when the answer is no list', async () => {
      await (await transport.next()).answer({ hello: 'world' });
      expect(recorder.take()).to.deep.equal(['trouble a page of the list: it is not a list, again in 400 ms']);
      await clock.advance(400);
      await (await transport.next()).answer(list(1, [{ metadata: {} }]));
      await clock.advance(800);
      await (await transport.next()).answer(list(1, []));
      expect(recorder.take()).to.deep.equal(['listed']);
    });

    it('gives up on a list after a minute of silence, counted anew with every piece', async () => {
      const first = await transport.next();
      await clock.advance(59_999);
      first.open().text('{');
      await clock.advance(59_999);
      expect(first.aborted).to.equal(false);
      await clock.advance(1);
      expect(first.aborted).to.equal(true);
      expect(recorder.lines).to.deep.equal(['trouble /api/v1/services: the server fell silent, again in 400 ms']);
    });
  });

  describe('watching', () => {
    it('passes on what happens', async () => {
      const watch = await watching(10, [object('a', 3, 'x')]);
      watch.event('MODIFIED', object('a', 11, 'y'));
      watch.event('ADDED', object('b', 12));
      watch.event('DELETED', object('a', 13));
      expect(recorder.lines).to.deep.equal(['~ a: x → y', '+ b', '- a']);
    });

    it('reads events that are cut inside characters', async () => {
      const watch = await watching(10, [object('a', 3, 'x')]);
      const bytes = Buffer.from(`${JSON.stringify({ type: 'MODIFIED', object: object('a', 11, 'ä€😀') })}\n`);
      for (const byte of bytes) watch.bytes(Buffer.from([byte]));
      expect(recorder.lines).to.deep.equal(['~ a: x → ä€😀']);
    });

    it('goes on at once from the last version, a bookmark included, when the server ends the watch', async () => {
      const watch = await watching();
      watch.event('ADDED', object('a', 11));
      watch.event('BOOKMARK', { metadata: { resourceVersion: '99' } });
      await clock.advance(1000);
      await watch.end();
      expect((await transport.next()).query).to.include({ watch: 'true', resourceVersion: '99' });
      expect(recorder.lines).to.deep.equal(['+ a']);
    });

    it('goes on at once when an accepted watch is silent for two and a half minutes', async () => {
      const watch = await watching();
      await clock.advance(149_999);
      watch.event('BOOKMARK', { metadata: { resourceVersion: '20' } });
      await clock.advance(149_999);
      expect(watch.aborted).to.equal(false);
      await clock.advance(1);
      expect(watch.aborted).to.equal(true);
      expect((await transport.next()).query).to.include({ watch: 'true', resourceVersion: '20' });
      expect(recorder.lines).to.deep.equal([]);
    });

    it('gives up on a watch that is not accepted in half a minute', async () => {
      await (await transport.next()).answer(list(10, []));
      await transport.next();
      recorder.take();
      await clock.advance(30_000);
      expect(recorder.lines).to.deep.equal(['trouble /api/v1/services: the server did not answer, again in 400 ms']);
    });

    const bookmark = (version: number) =>
      `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } })}\n`;
    for (const [name, afterMs, body] of [
      ['nothing, within 10 s', 9999, ''],
      ['an empty line, within 10 s', 9999, '\n'],
      ['a bookmark of the version that is known, within 10 s', 9999, bookmark(10)],
      ['a newer bookmark, within a second', 999, bookmark(11)],
    ] as const) {
      it(`waits before it goes on when a watch ends after ${name}`, async () => {
        const watch = await watching();
        watch.text(body);
        await clock.advance(afterMs);
        await watch.end();
        expect(recorder.lines[0]).to.match(/^trouble .*ended as soon as it began, again in 400 ms$/);
        await clock.advance(400);
        expect((await transport.next()).query).to.include({ watch: 'true' });
      });
    }

    for (const [name, afterMs, body] of [
      ['of the first', 200_000, '{"type":"ADDED","object":{"metadata":{"na'],
      ['that is no event', 0, '<html>login</html>'],
    ] as const) {
      it(`waits before it goes on when a watch ends in the middle of a line, ${name}`, async () => {
        const watch = await watching();
        for (let ms = 0; ms < afterMs; ms += 100_000) {
          watch.text(bookmark(11));
          await clock.advance(100_000);
        }
        watch.text(body);
        await watch.end();
        expect(recorder.lines[0]).to.match(/^trouble .*ended in the middle of a line, again in 400 ms$/);
      });
    }

    it('waits for longer and longer while watches end too soon', async () => {
      const waits: number[] = [];
      await (await transport.next()).answer(list(10, []));
      for (let n = 0; n < 12; n += 1) {
        await (await transport.next()).open().end();
        const endMs = clock.nowMs();
        const { length } = transport.calls;
        while (transport.calls.length === length) await clock.advance(clock.pending()[0] ?? 0);
        waits.push(clock.nowMs() - endMs);
      }
      expect(waits.at(-1)).to.equal(15_000);
    });

    it('watches again from where it was, without a list, after a refusal or a broken connection', async () => {
      const watch = await watching();
      watch.event('ADDED', object('a', 11));
      await watch.fail(broken);
      await clock.advance(400);
      const second = await transport.next();
      expect(second.query).to.include({ watch: 'true', resourceVersion: '11' });
      await second.fail(refused(403));
      await clock.advance(800);
      expect((await transport.next()).query).to.include({ watch: 'true', resourceVersion: '11' });
    });

    it('watches again after an ERROR event that is not about the version', async () => {
      const watch = await watching();
      watch.event('ERROR', { kind: 'Status', code: 500, reason: 'InternalError', message: 'etcd' });
      await settle();
      expect(recorder.lines[0]).to.match(/^trouble .* 500 InternalError: etcd/);
      await clock.advance(400);
      expect((await transport.next()).query).to.include({ watch: 'true', resourceVersion: '10' });
    });

    it('keeps the value of an object that cannot be decoded, and deletes it all the same', async () => {
      const watch = await watching(10, [object('a', 3, 'x')]);
      watch.event('MODIFIED', object('a', 11, 'bad'));
      watch.event('DELETED', object('a', 12, 'bad'));
      expect(recorder.lines).to.deep.equal(['problem Thing a: it is bad', '- a']);
    });
  });

  describe('what it has done', () => {
    it('is counted: lists, watches, new lists by their cause, deletions that were missed', async () => {
      const watch = await watching(10, [object('a', 3), object('b', 4)]);
      expect(listWatch.counts).to.deep.include({ lists: 1, watches: 1, missedDeletions: 0, lastHeardMs: 0 });
      await clock.advance(5000);
      watch.event('BOOKMARK', { metadata: { resourceVersion: '20' } });
      expect(listWatch.counts.lastHeardMs).to.equal(5000);
      watch.event('ERROR', expiredEvent);
      await settle();
      await clock.advance(400);
      await (await transport.next()).answer(list(30, [object('b', 4)]));
      (await transport.next()).open().text('no JSON\n');
      await settle();
      expect(listWatch.counts).to.deep.equal({
        lists: 2,
        watches: 2,
        restarts: 0,
        events: 0,
        bookmarks: 1,
        relists: { expired: 1, malformed: 1 },
        failures: { unreachable: 0, refused: 1, malformed: 1 },
        missedDeletions: 1,
        lastHeardMs: 5400,
      });
    });

    it('includes the uids of its objects', async () => {
      await watching(10, [object('a', 3, '', 'uid-of-a')]);
      expect(['shop/a', 'shop/b'].map((key) => listWatch.uid(key))).to.deep.equal(['uid-of-a', '']);
    });
  });

  describe('listing again', () => {
    const relisted = async () => {
      await settle();
      await clock.advance(400);
      const call = await transport.next();
      expect(call.query).to.not.have.any.keys('watch', 'resourceVersion');
      return call;
    };

    it('asks for the newest list after an Expired event, without a word of trouble', async () => {
      const watch = await watching();
      watch.event('ERROR', expiredEvent);
      watch.event('ADDED', object('late', 99));
      await relisted();
      expect(recorder.lines).to.deep.equal([]);
    });

    it('does so after a 410 answer, and when the server says that it is not that far yet', async () => {
      await (await watching()).fail(refused(410));
      await (await relisted()).answer(list(20, []));
      await (await transport.next()).fail(refused(504, { message: 'Too large resource version: 20, current: 7' }));
      await clock.advance(1600);
      await (await relisted()).answer(list(7, []));
      expect((await transport.next()).query).to.include({ resourceVersion: '7' });
    });

    it('keeps what it has until the new list is complete, then tells of the differences only', async () => {
      const items = [object('same', 1), object('gone', 2), object('new-uid', 3, '', 'old'), object('changed', 4, 'x')];
      const watch = await watching(10, items);
      watch.event('ERROR', expiredEvent);
      const first = await relisted();
      await first.answer(list(50, [object('same', 1)], 'more'));
      expect(recorder.lines).to.deep.equal([]);
      const rest = [object('new-uid', 40, '', 'new'), object('changed', 41, 'y'), object('added', 42)];
      await (await transport.next()).answer(list(50, rest));
      expect(recorder.lines).to.deep.equal(['- gone', '- new-uid', '+ new-uid', '~ changed: x → y', '+ added']);
    });

    for (const [name, line] of [
      ['no JSON', '{"type":"ADDED",'],
      ['no object', '[]'],
      ['an unknown type', '{"type":"MOVED","object":{}}'],
      ['no metadata', '{"type":"ADDED","object":{"metadata":{"name":"a"}}}'],
      ['a bookmark without a version', '{"type":"BOOKMARK","object":{}}'],
      ['older than the list', '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}'],
    ]) {
      it(`ends the watch and lists at a line that is ${name}`, async () => {
        const watch = await watching();
        watch.text(`${line}\n`);
        expect(watch.aborted).to.equal(true);
        await relisted();
        expect(recorder.lines).to.have.length(1);
        expect(recorder.lines[0]).to.match(/^trouble \/api\/v1\/services: /);
      });
    }
  });

  describe('trouble', () => {
    it('is told of once, and again when it changes, until it is over', async () => {
      for (const error of [broken, broken, refused(503), refused(503), refused(401)]) {
        await (await transport.next()).fail(error);
        await clock.advance(30_000);
      }
      expect(recorder.take().map((line) => line.slice(0, 44))).to.deep.equal([
        'trouble /api/v1/services: ECONNRESET, again ',
        'trouble the API server refused with 503 : , ',
        'trouble the API server refused with 401 : , ',
      ]);
      await (await transport.next()).answer(list(1, []));
      expect(recorder.take()).to.deep.equal(['listed']);
    });

    it('is over when a watch has gone on for 10 s', async () => {
      await (await watching()).fail(broken);
      await clock.advance(400);
      (await transport.next()).open();
      await clock.advance(9999);
      expect(recorder.take()).to.have.lengthOf(1);
      await clock.advance(1);
      expect(recorder.take()).to.deep.equal(['recovered']);
    });

    it('is not over, nor told of again, when a watch breaks off before', async () => {
      await (await watching()).fail(broken);
      for (let n = 0; n < 5; n += 1) {
        await clock.advance(30_000);
        const watch = (await transport.next()).open();
        await clock.advance(9999);
        await watch.fail(broken);
      }
      expect(recorder.lines).to.have.lengthOf(1);
    });

    it('is told of when the version of one watch after another is gone', async () => {
      await (await watching()).fail(refused(410));
      await clock.advance(400);
      await (await transport.next()).answer(list(20, []));
      await (await transport.next()).fail(refused(410));
      expect(recorder.lines).to.deep.equal(['trouble the API server refused with 410 : , again in 800 ms']);
    });

    it('is not told of when the version of a watch is gone now and then', async () => {
      for (let n = 0; n < 3; n += 1) {
        const watch = await watching();
        await clock.advance(140_000);
        watch.event('ERROR', expiredEvent);
        await settle();
        await clock.advance(400);
      }
      expect(recorder.lines).to.deep.equal([]);
    });

    it('makes every wait longer, up to 15 s on average, and never ends the attempts', async () => {
      const waits: number[] = [];
      for (let n = 0; n < 50; n += 1) {
        await (await transport.next()).fail(broken);
        const [wait = 0] = clock.pending();
        waits.push(wait);
        await clock.advance(wait);
      }
      expect(waits.slice(0, 7)).to.deep.equal([400, 800, 1600, 3200, 6400, 12_800, 15_000]);
      expect(waits.at(-1)).to.equal(15_000);
    });

    it('waits as long as the server asks for', async () => {
      await (await transport.next()).fail(refused(429, { retryAfterMs: 7000 }));
      expect(clock.pending()).to.deep.equal([7000]);
      expect(recorder.lines[0]).to.match(/again in 7000 ms$/);
    });
  });

  it('tells of everything once more, from itself to itself, after every resync period', async () => {
    await listWatch.stop();
    const resource = { name: 'x', path: '/x' };
    const options = { transport, resource, decode: decodeThing, handler: recorder, clock, random: () => 0 };
    listWatch = new ListWatch({ ...options, resyncMs: 60_000 });
    await transport.next();
    listWatch.start();
    await (await transport.next()).answer(list(10, [object('a', 3, 'x')]));
    recorder.take();
    (await transport.next()).open();
    await clock.advance(60_000);
    expect(recorder.take()).to.deep.equal(['~ a: x → x']);
    await clock.advance(60_000);
    expect(recorder.take()).to.deep.equal(['~ a: x → x']);
  });

  describe('stopping', () => {
    it('gives up the request under way and calls nobody any more', async () => {
      const watch = await watching();
      await listWatch.stop();
      expect(watch.aborted).to.equal(true);
      watch.event('ADDED', object('a', 11));
      expect(recorder.lines).to.deep.equal([]);
      expect(clock.pending()).to.deep.equal([]);
    });

    it('ends a wait and a list', async () => {
      await (await transport.next()).fail(broken);
      await listWatch.stop();
      expect(clock.pending()).to.deep.equal([]);
      const another = new ListWatch({
        transport,
        resource: { name: 'x', path: '/x' },
        decode: decodeThing,
        handler: recorder,
        clock,
        random: () => 0,
      });
      another.start();
      recorder.take();
      await another.stop();
      expect(recorder.lines).to.deep.equal([]);
    });

    it('can be asked for before the start', async () => {
      await new ListWatch({
        transport,
        resource: { name: 'x', path: '/x' },
        decode: decodeThing,
        handler: recorder,
        clock,
        random: () => 0,
      }).stop();
    });
  });

  describe('a handler that throws', () => {
    it('is not caught while watching', async () => {
      const watch = await watching();
      recorder.changed = () => {
        throw new Error('a bug');
      };
      expect(() => watch.event('ADDED', object('a', 11))).to.throw('a bug');
    });

    it('ends the process while listing', async () => {
      const script = `
        import { ListWatch } from './list-watch.ts';
        const handler = { changed() { throw new Error('a bug'); } };
        const body = Buffer.from('{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","resourceVersion":"1"}}]}');
        const transport = { send: async (request, sink) => (sink.chunk(body), { ok: true }) };
        const clock = { nowMs: () => 0, after: () => () => {} };
        new ListWatch({ transport, resource: { path: '/x' }, decode: (value) => ({ value, problems: [] }), handler, clock, random: () => 0 }).start();
        setTimeout(() => {}, 60_000);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: import.meta.dirname });
      const stderr: Buffer[] = [];
      child.stderr.on('data', (chunk) => stderr.push(chunk));
      const exitCode = await new Promise((resolve) => child.on('close', resolve));
      expect(exitCode).to.equal(1);
      expect(Buffer.concat(stderr).toString()).to.match(/Error: a bug/);
    });
  });
});
