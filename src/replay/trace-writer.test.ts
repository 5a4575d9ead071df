import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { constants, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { TraceWriter } from './trace-writer.ts';

describe('replay/trace-writer', () => {
  let folder: string;
  let clock: SteppedClock;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trace-writer-'));
    clock = new SteppedClock();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const open = (file: string) => {
    const trouble = (message: string) => {
      throw new Error(message);
    };
    return new TraceWriter(join(folder, file), trouble, clock);
  };

  /** What can be read of a file that is still written. */
  function contents(file: string): string {
    const bytes = readFileSync(join(folder, file));
    if (!file.endsWith('.gz')) return bytes.toString();
    return bytes.length === 0 ? '' : gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  }

  /** Resolves when the file, which may not be there yet, has other contents than these. */
  async function contentsAfter(file: string, known: string): Promise<string> {
    while (!existsSync(join(folder, file)) || contents(file) === known) await setImmediate();
    return contents(file);
  }

  for (const file of ['trace', 'trace.gz']) {
    it(`shows in ${file} within a second what there is, again and again`, async () => {
      const writer = open(file);
      let written = '';
      for (const line of ['one', 'zwei ü', 'three']) {
        writer.write(line);
        writer.write(line);
        await clock.advance(1000);
        const more = `${written}${line}\n${line}\n`;
        expect(await contentsAfter(file, written)).to.equal(more);
        written = more;
        expect(clock.pending()).to.deep.equal([]);
      }
      await writer.close();
      expect(contents(file)).to.equal(written);
    });

    it(`has every line in ${file} at its end, without waiting for the second`, async () => {
      const writer = open(file);
      const lines = Array.from({ length: 20_000 }, (_, number) => `line ${number}`);
      for (const line of lines) {
        writer.write(line);
        await writer.drained();
      }
      await writer.close();
      expect(contents(file)).to.equal(`${lines.join('\n')}\n`);
      expect(clock.pending()).to.deep.equal([]);
    });
  }

  it('gathers lines to pieces of 64 KB before it hands them on', async () => {
    const writer = open('trace');
    for (let number = 0; number < 1000; number += 1) writer.write('x'.repeat(99));
    expect(writer.waitingBytes).to.equal(100_000);
    expect(await contentsAfter('trace', '')).to.have.lengthOf(65_600);
    await writer.close();
    expect(contents('trace')).to.have.lengthOf(100_000);
  });

  it('writes nothing more, and waits for nothing, once it is broken', async () => {
    const troubles: string[] = [];
    const writer = new TraceWriter('/nowhere/trace', (message) => troubles.push(message), clock);
    writer.write('one');
    while (!writer.isBroken) await setImmediate();
    writer.write('two');
    await clock.advance(1000);
    expect([troubles.length, writer.waitingBytes, clock.pending()]).to.deep.equal([1, 0, []]);
    await writer.close();
  });
});
