import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { scriptInput } from './script-input.ts';

const LINES = 40_000;
const SCRIPT = Array.from({ length: LINES }, (_, line) => `-a -t 10.0.0.1:80 -r 10.0.0.2:${line}\n`).join('');

describe('apply/script-input', () => {
  it('gives all of the text from its start, in a file of this user alone that has no name', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-input-'));
    const file = scriptInput(SCRIPT, [folder]) ?? -1;
    const { mode, nlink } = fstatSync(file);
    expect([mode & 0o777, nlink, readdirSync(folder)]).to.deep.equal([0o600, 0, []]);
    expect(readFileSync(file, 'utf8')).to.equal(SCRIPT);
    closeSync(file);
  });

  it('takes the next folder where one cannot be written to, and tells when there is none', () => {
    const file = scriptInput('line\n', ['/nowhere', '/proc', tmpdir()]) ?? -1;
    expect(readFileSync(file, 'utf8')).to.equal('line\n');
    closeSync(file);
    expect(scriptInput('line\n', ['/nowhere'])).to.equal(undefined);
  });

  for (const bytes of [0, 1, 37, 4096, 65_537, 300_001, SCRIPT.length]) {
    it(`has a tool read its whole script though this program is killed when ${bytes} bytes of it are read`, async () => {
      const heard = join(mkdtempSync(join(tmpdir(), 'ipvs-proxier-killed-')), 'heard');
      execFileSync('mkfifo', [heard]);
      const tool = `exec >"$HEARD"; head -c ${bytes}; kill -9 $PPID; cat`;
      const writer = spawn(process.execPath, ['--input-type=module', '-e', writerOf(tool)], {
        stdio: 'ignore',
        env: { ...process.env, HEARD: heard },
      });
      const [text, [, signal]] = await Promise.all([readFile(heard, 'utf8'), once(writer, 'exit')]);
      expect(signal).to.equal('SIGKILL');
      expect(text === SCRIPT, `${text.length} of ${SCRIPT.length} characters`).to.equal(true);
    }).timeout(60_000);
  }
});

/** A program that runs a tool with the script; the words of a shell take the tool's place. */
function writerOf(tool: string): string {
  return `
    const { runProcess } = await import(${JSON.stringify(new URL('host.ts', import.meta.url).href)});
    const input = Array.from({ length: ${LINES} }, (_, line) => '-a -t 10.0.0.1:80 -r 10.0.0.2:' + line + '\\n').join('');
    await runProcess({ tool: 'ip', args: [], input, timeoutMs: 60_000 }, ['sh', '-c', ${JSON.stringify(tool)}]);`;
}
