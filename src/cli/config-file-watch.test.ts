import { mkdir, mkdtemp, rename, rm, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { systemClock } from '../queue/clock.ts';
import { ConfigFileWatch } from './config-file-watch.ts';

describe('cli/config-file-watch', () => {
  let folder: string;
  let file: string;
  let watch: ConfigFileWatch | undefined;
  /** Texts, troubles and their end, in the order in which they were told. */
  let told: string[];
  let taken: number;
  let heard: { promise: Promise<void>; resolve: () => void };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-watch-'));
    file = join(folder, 'config.conf');
    told = [];
    taken = 0;
    heard = Promise.withResolvers();
  });
  afterEach(async () => {
    await watch?.stop();
    await rm(folder, { recursive: true });
  });

  function begin(text: string, name = file, clock = systemClock): void {
    const tell = (line: string) => {
      told.push(line);
      heard.resolve();
      heard = Promise.withResolvers();
    };
    watch = new ConfigFileWatch({
      file: { name, text },
      clock,
      changed: tell,
      trouble: (message) => tell(`trouble: ${message}`),
      readable: () => tell('readable'),
    });
    watch.start();
  }

  /** The next thing that is told. */
  async function next(): Promise<string> {
    while (told.length <= taken) await heard.promise;
    taken += 1;
    return told[taken - 1] ?? '';
  }

  /** Resolves when a look is due in a moment. */
  async function aLookIsDue(clock: SteppedClock): Promise<void> {
    while (clock.pending()[0] !== 250) await setImmediate();
  }

  it('sees what is written in place, again and again', async () => {
    await writeFile(file, 'one');
    begin('one');
    for (const text of ['two', 'three']) {
      await writeFile(file, text);
      expect(await next()).to.equal(text);
    }
    expect(told).to.deep.equal(['two', 'three']);
  });

  it('sees a file that is renamed over it, again and again', async () => {
    await writeFile(file, 'one');
    begin('one');
    for (const text of ['two', 'three']) {
      await writeFile(join(folder, 'new'), text);
      await rename(join(folder, 'new'), file);
      expect(await next()).to.equal(text);
    }
  });

  it('sees the exchanged links of a mounted ConfigMap, again and again', async () => {
    const publish = async (version: string, text: string) => {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'config.conf'), text);
      await symlink(version, join(folder, '..data_tmp'));
      await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    await publish('..1', 'one');
    await symlink('..data/config.conf', file);
    begin('one');
    for (const [version, text] of [
      ['..2', 'two'],
      ['..3', 'three'],
    ] as const) {
      await publish(version, text);
      expect(await next()).to.equal(text);
    }
    await rm(join(folder, '..1'), { recursive: true });
    await publish('..4', 'four');
    expect(await next()).to.equal('four');
    expect(told).to.deep.equal(['two', 'three', 'four']);
  });

  it('sees what is written to a file in another folder that it is a link to', async () => {
    const target = join(folder, 'elsewhere');
    await mkdir(target);
    await writeFile(join(target, 'real'), 'one');
    await symlink(join(target, 'real'), file);
    begin('one');
    await writeFile(join(target, 'real'), 'two');
    expect(await next()).to.equal('two');
  });

  it('sees what was written between the reading of the file and the start of the watch', async () => {
    await writeFile(file, 'two');
    begin('one');
    expect(await next()).to.equal('two');
  });

  it('is silent where the text stays the same', async () => {
    await writeFile(file, 'one');
    begin('one');
    await utimes(file, 1, 1);
    await writeFile(join(folder, 'new'), 'one');
    await rename(join(folder, 'new'), file);
    await writeFile(join(folder, 'other'), 'x');
    await writeFile(file, 'two');
    expect(await next()).to.equal('two');
    expect(told).to.deep.equal(['two']);
  });

  it('tells once that the file is gone, keeps what it had, and goes on when it is back', async () => {
    await writeFile(file, 'one');
    begin('one');
    await unlink(file);
    expect(await next()).to.equal('trouble: it cannot be read: ENOENT');
    await rename(await written('two'), file);
    expect(await next()).to.equal('readable');
    expect(await next()).to.equal('two');
  });

  it('tells that a file that was gone is back as it was', async () => {
    await writeFile(file, 'one');
    begin('one');
    await unlink(file);
    expect(await next()).to.equal('trouble: it cannot be read: ENOENT');
    await rename(await written('one'), file);
    expect(await next()).to.equal('readable');
    expect(told).to.have.lengthOf(2);
  });

  it('sees soon that what it is a link to is back, though no folder tells of it', async () => {
    const clock = new SteppedClock();
    const target = join(folder, 'elsewhere');
    await mkdir(target);
    await writeFile(join(target, 'real'), 'one');
    await symlink(join(target, 'real'), file);
    begin('one', file, clock);
    while (clock.pending().length === 0) await setImmediate();
    await unlink(join(target, 'real'));
    await aLookIsDue(clock);
    await clock.advance(250);
    expect(await next()).to.equal('trouble: it cannot be read: ENOENT');
    while (clock.pending().length === 0) await setImmediate();
    await writeFile(join(target, 'real'), 'two');
    await clock.advance(2000);
    expect(await next()).to.equal('readable');
    await aLookIsDue(clock);
    await clock.advance(250);
    expect(await next()).to.equal('two');
  });

  /** A complete file beside the one that is watched. */
  async function written(text: string): Promise<string> {
    await writeFile(join(folder, 'next'), text);
    return join(folder, 'next');
  }

  it('looks once a minute where nothing tells it to, as where a folder above is exchanged', async () => {
    const clock = new SteppedClock();
    for (const [version, text] of [
      ['1', 'one'],
      ['2', 'two'],
    ] as const) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'config.conf'), text);
    }
    await symlink('1', join(folder, 'current'));
    begin('one', join(folder, 'current', 'config.conf'), clock);
    while (clock.pending().length === 0) await setImmediate();
    await symlink('2', join(folder, 'new'));
    await rename(join(folder, 'new'), join(folder, 'current'));
    await clock.advance(59_000);
    expect(clock.pending()).to.deep.equal([1000]);
    await clock.advance(1000);
    await aLookIsDue(clock);
    await clock.advance(250);
    expect(await next()).to.equal('two');
  });

  it('looks soon again for a file whose folder is not there', async () => {
    const clock = new SteppedClock();
    const late = join(folder, 'late');
    begin('one', join(late, 'config.conf'), clock);
    expect(await next()).to.equal('trouble: it cannot be read: ENOENT');
    await mkdir(late);
    await writeFile(join(late, 'config.conf'), 'two');
    await clock.advance(2000);
    expect(await next()).to.equal('readable');
    await aLookIsDue(clock);
    await clock.advance(250);
    expect(await next()).to.equal('two');
  });

  it('waits with a text until it stays, as one written in place is cut for a moment', async () => {
    const clock = new SteppedClock();
    await writeFile(file, 'one');
    begin('one', file, clock);
    while (clock.pending().length === 0) await setImmediate();
    for (const text of ['', 'tw', 'two']) {
      await writeFile(file, text);
      await aLookIsDue(clock);
      await clock.advance(250);
      await aLookIsDue(clock);
    }
    expect(told).to.deep.equal([]);
    await clock.advance(250);
    expect(await next()).to.equal('two');
    expect(told).to.deep.equal(['two']);
  });

  it('tells nothing once it is stopped', async () => {
    const clock = new SteppedClock();
    await writeFile(file, 'one');
    begin('one', file, clock);
    await watch?.stop();
    await writeFile(file, 'two');
    await clock.advance(120_000);
    expect([told, clock.pending()]).to.deep.equal([[], []]);
  });
});
