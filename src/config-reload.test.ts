import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { readEffectiveConfig } from './cli/read-config.ts';
import { HEAD } from './config/config-fixture.ts';
import { ConfigReload } from './config-reload.ts';
import { systemClock } from './queue/clock.ts';

describe('config-reload', () => {
  let folder: string;
  let file: string;
  let reload: ConfigReload | undefined;
  /** Lines of the log, verbosities and reasons for a restart, in order. */
  let told: string[];
  let heard: { promise: Promise<string>; resolve: (line: string) => void };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'config-reload-'));
    file = join(folder, 'config.conf');
    told = [];
    heard = Promise.withResolvers();
  });
  afterEach(async () => {
    await reload?.stop();
    await rm(folder, { recursive: true });
  });

  const tell = (line: string): void => {
    told.push(line);
    heard.resolve(line);
  };

  async function begin(text: string): Promise<void> {
    await writeFile(file, HEAD + text);
    const terminal = { output: async () => {}, error: tell, input: async () => '' };
    const flags = { config: file };
    const read = await readEffectiveConfig(flags, terminal);
    if (!read) throw new Error('the configuration of a test has to be valid');
    const log = pino({}, { write: (line: string) => tell(`${JSON.parse(line).msg}`) });
    reload = new ConfigReload({
      read,
      flags,
      clock: systemClock,
      log,
      setVerbosity: (verbosity) => void told.push(`verbosity ${verbosity}`),
      restart: (why) => tell(`restart: ${why}`),
    });
    reload.start();
  }

  /** Puts another text in the place of the file at once, and waits for what is told of it. */
  async function change(text: string): Promise<string> {
    heard = Promise.withResolvers();
    await writeFile(join(folder, 'new'), HEAD + text);
    await rename(join(folder, 'new'), file);
    return heard.promise;
  }

  it('takes over another verbosity without a restart, and compares with that from then on', async () => {
    await begin('mode: ipvs');
    expect(await change('mode: ipvs\nlogging: {verbosity: 4}')).to.equal('the changed configuration is in force');
    await change('mode: ipvs\nlogging: {verbosity: 2}');
    expect(told.filter((line) => line.startsWith('verbosity'))).to.deep.equal(['verbosity 4', 'verbosity 2']);
    expect(await change('logging: {verbosity: 2}\nipvs: {scheduler: lc}')).to.equal(
      'restart: the configuration has changed: ipvs.scheduler "rr" → "lc"',
    );
  });

  it('tells once what is wrong with a new text, keeps what is in force, and says when it is right again', async () => {
    await begin('mode: ipvs');
    const wrong = 'the changed configuration is wrong; the one in force stays';
    expect(await change('ipvs: {scheduler: 5}')).to.equal(wrong);
    expect(await change('mode: ipvs')).to.equal('the configuration is right again, and as the one in force');
    expect(told).to.have.lengthOf(2);
  });

  it('names every field that needs a restart', async () => {
    await begin('mode: ipvs');
    expect(await change('ipvs: {strictARP: true}\noomScoreAdj: 0')).to.equal(
      'restart: the configuration has changed: ipvs.strictARP false → true, oomScoreAdj -999 → 0',
    );
  });

  it('has nothing to follow without a file', async () => {
    const terminal = { output: async () => {}, error: tell, input: async () => '' };
    const read = await readEffectiveConfig({}, terminal);
    if (!read) throw new Error('flags alone have to be valid');
    const none = { log: pino({ enabled: false }), setVerbosity: () => {}, restart: tell };
    const idle = new ConfigReload({ read, flags: {}, clock: systemClock, ...none });
    idle.start();
    await idle.stop();
    expect(told).to.deep.equal([]);
  });
});
