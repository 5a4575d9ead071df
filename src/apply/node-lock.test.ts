import { connect, createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { execa } from 'execa';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { systemClock } from '../queue/clock.ts';
import { describeLockError, type LockError, type LockOptions, lockNode, readLockHolder } from './node-lock.ts';

describe('apply/node-lock', () => {
  let address: string;
  let ends: (() => Promise<unknown>)[];
  let names = 0;

  beforeEach(() => {
    names += 1;
    address = `\0ipvs-proxier-test-${process.pid}-${names}`;
    ends = [];
  });

  afterEach(() => Promise.all(ends.map((end) => end())));

  async function lock(options: Partial<LockOptions> = {}) {
    const locked = await lockNode(
      { command: 'run', version: '1.2.3' },
      { clock: systemClock, patienceMs: 0, address, ...options },
    );
    if (locked.ok) ends.push(() => locked.value.release());
    return locked;
  }

  /** Another program that has the name. */
  async function occupy(answer: string): Promise<Server> {
    const server = createServer((socket) => socket.on('error', () => {}).end(answer));
    await new Promise<void>((resolve) => server.listen({ path: address }, resolve));
    ends.push(() => new Promise((resolve) => server.close(resolve)));
    return server;
  }

  /** A process that locks the node, says so, and stays. */
  async function startHolder() {
    const module = fileURLToPath(new URL('node-lock.ts', import.meta.url));
    const clock = fileURLToPath(new URL('../queue/clock.ts', import.meta.url));
    const script = `
      const { lockNode } = await import(${JSON.stringify(module)});
      const { systemClock } = await import(${JSON.stringify(clock)});
      const address = ${JSON.stringify(address)};
      const locked = await lockNode({ command: 'run', version: '9.9.9' }, { clock: systemClock, patienceMs: 0, address });
      process.stdout.write(locked.ok ? 'locked' : 'not locked');`;
    const holder = execa(process.execPath, ['--input-type=module', '--eval', script], { reject: false, buffer: false });
    ends.push(async () => holder.kill('SIGKILL'));
    const said = await new Promise((resolve) => holder.stdout.once('data', (chunk) => resolve(String(chunk))));
    expect(said).to.equal('locked');
    const kill = async () => {
      holder.kill('SIGKILL');
      await holder;
    };
    return { pid: holder.pid, kill };
  }

  it('tells who has it to those who only ask', async () => {
    expect(await readLockHolder(systemClock, address)).to.deep.equal({ ok: true, value: undefined });
    await lock();
    const asked = await readLockHolder(systemClock, address);
    expect(asked.ok && asked.value).to.include({ command: 'run', version: '1.2.3', pid: process.pid });
  });

  it('does not take a program that tells nothing for nobody', async () => {
    await occupy('');
    expect(await readLockHolder(systemClock, address)).to.deep.equal({ ok: false, error: { kind: 'lock-held' } });
  });

  it('is given to one at a time, and tells the other who has it', async () => {
    expect((await lock()).ok).to.equal(true);
    const second = await lock();
    const holder = !second.ok && second.error.kind === 'lock-held' ? second.error.holder : undefined;
    expect(holder).to.deep.include({ pid: process.pid, command: 'run', version: '1.2.3' });
  });

  it('is free again after it was given back', async () => {
    const first = await lock();
    if (first.ok) await first.value.release();
    expect((await lock()).ok).to.equal(true);
  });

  it('is free again as soon as the process that had it was killed', async () => {
    const holder = await startHolder();
    const refused = await lock();
    expect(refused.ok ? '' : describeLockError(refused.error)).to.equal(
      `another ipvs-proxier programs this node: run, version 9.9.9, process ${holder.pid}`,
    );
    await holder.kill();
    expect((await lock()).ok).to.equal(true);
  });

  it('waits for a holder that ends in time, and tells of it once', async () => {
    const holder = await startHolder();
    const told: LockError[] = [];
    const locked = await lock({
      patienceMs: 15_000,
      waiting: (error) => {
        told.push(error);
        void holder.kill();
      },
    });
    expect([locked.ok, told.map(({ kind }) => kind)]).to.deep.equal([true, ['lock-held']]);
  });

  it('gives up when the time is over', async () => {
    const first = await lock();
    const clock = new SteppedClock();
    const waiting = Promise.withResolvers<void>();
    const second = lock({ clock, patienceMs: 15_000, waiting: () => waiting.resolve() });
    await waiting.promise;
    await clock.advance(15_000);
    expect([first.ok, (await second).ok]).to.deep.equal([true, false]);
    expect(clock.pending()).to.deep.equal([]);
  });

  it('gives up when it is told to', async () => {
    await lock();
    const clock = new SteppedClock();
    const controller = new AbortController();
    const second = lock({
      clock,
      patienceMs: 15_000,
      signal: controller.signal,
      waiting: () => queueMicrotask(() => controller.abort()),
    });
    expect((await second).ok).to.equal(false);
    expect(clock.pending()).to.deep.equal([]);
  });

  for (const [what, answer] of [
    ['says nothing', ''],
    ['says something else', 'hello\n'],
    ['claims to be something that no process is', '{"pid":"1","pidNamespace":"a b","command":"","version":null}\n'],
    ['does not stop talking', 'x'.repeat(20_000)],
  ] as const) {
    it(`does not believe a holder that ${what}`, async () => {
      await occupy(answer);
      const refused = await lock();
      expect(refused.ok ? '' : describeLockError(refused.error)).to.equal(
        'another process has abstract socket @ipvs-proxier, and does not tell which one it is',
      );
    });
  }

  it('looks again where the holder cannot be watched', async () => {
    const server = await occupy('');
    const clock = new SteppedClock();
    const waiting = Promise.withResolvers<void>();
    const locked = lock({ clock, patienceMs: 15_000, waiting: () => waiting.resolve() });
    await waiting.promise;
    await new Promise((resolve) => server.close(resolve));
    await clock.advance(200);
    expect((await locked).ok).to.equal(true);
  });

  it('is not kept by those who ask for it', async () => {
    const first = await lock();
    const asking = connect({ path: address });
    ends.push(async () => asking.destroy());
    await new Promise((resolve) => asking.once('data', resolve));
    if (first.ok) await first.value.release();
    expect((await lock()).ok).to.equal(true);
  });

  it('names the PID namespace of a holder in another one, whose number means nothing here', () => {
    const holder = { pid: 1, pidNamespace: 'pid:[1]', command: 'run', version: '1.2.3' };
    expect(describeLockError({ kind: 'lock-held', holder })).to.equal(
      'another ipvs-proxier programs this node: run, version 1.2.3, process 1 of PID namespace pid:[1]',
    );
  });

  it('tells when no such socket can be opened', () => {
    expect(describeLockError({ kind: 'lock-failed', code: 'EPERM' })).to.equal(
      'the node cannot be locked: EPERM for abstract socket @ipvs-proxier',
    );
  });
});
