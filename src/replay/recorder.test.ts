import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { systemClock } from '../queue/clock.ts';
import { Recorder } from './recorder.ts';

describe('replay/recorder', () => {
  let folder: string;
  let nowMs: number;
  let troubles: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'recorder-'));
    nowMs = 1_000;
    troubles = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const open = (file: string) =>
    new Recorder({ file, clock: { ...systemClock, nowMs: () => nowMs }, trouble: (message) => troubles.push(message) });
  const service = (name: string) => ({ metadata: { name, resourceVersion: '1' } });
  const summary = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { atMs: number; type: string; object: { metadata: { name: string } } })
      .map(({ atMs, type, object }) => `${atMs} ${type} ${object.metadata.name}`);

  for (const name of ['trace.jsonl', 'trace.jsonl.gz']) {
    it(`writes ${name}: the first list at 0, everything later by its time`, async () => {
      const recorder = open(join(folder, name));
      recorder.record('Service', 'ADDED', service('a'));
      nowMs = 1_500;
      recorder.record('Service', 'ADDED', service('b'));
      recorder.listed();
      nowMs = 1_520.25;
      recorder.record('Service', 'DELETED', service('a'));
      await recorder.close();
      const bytes = readFileSync(join(folder, name));
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
      expect(summary(text)).to.deep.equal(['0 ADDED a', '0 ADDED b', '20.25 DELETED a']);
      expect(troubles).to.deep.equal([]);
    });
  }

  for (const file of ['/dev/full', '/nowhere/trace.jsonl', '/nowhere/trace.jsonl.gz']) {
    it(`tells once that ${file} cannot be written, and lets everything else go on`, async () => {
      const recorder = open(file);
      for (let round = 0; round < 5; round += 1) {
        for (let number = 0; number < 1_000; number += 1) recorder.record('Service', 'ADDED', service(`${number}`));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await recorder.close();
      await recorder.close();
      expect(troubles).to.have.lengthOf(1);
      expect(troubles[0]).to.match(
        file === '/dev/full' ? /^\/dev\/full: no space is left$/ : /: cannot be written: ENOENT$/,
      );
    });
  }

  it('records nothing after its end', async () => {
    const recorder = open(join(folder, 'trace'));
    recorder.record('Service', 'ADDED', service('a'));
    await recorder.close();
    recorder.record('Service', 'ADDED', service('b'));
    expect(summary(readFileSync(join(folder, 'trace'), 'utf8'))).to.deep.equal(['0 ADDED a']);
  });
});
