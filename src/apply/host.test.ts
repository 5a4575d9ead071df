import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { followProcess, runProcess, systemHost } from './host.ts';
import type { ToolCall } from './tool.ts';

describe('apply/host', () => {
  /** `ip` in the place of a shell's words: the prefix runs, and gets the tool as its arguments. */
  const follow = (script: string, onLine: (line: string) => void = () => {}) =>
    followProcess({ tool: 'ip', args: [] }, ['sh', '-c', script], onLine);

  it('hands on the lines of a tool that goes on as they are printed, from both outputs', async () => {
    const lines: string[] = [];
    const heard = Promise.withResolvers<void>();
    const tool = follow('echo one; echo two >&2; exec sleep 60', (line) => {
      if (lines.push(line) === 2) heard.resolve();
    });
    await heard.promise;
    expect(lines).to.have.members(['one', 'two']);
    tool.stop();
    expect(await tool.ended).to.equal(undefined);
  });

  it('tells why it has ended by itself, with the last words', async () => {
    const told = await Promise.all(
      ['exit 0', 'echo a >&2; echo why >&2; exit 3'].map((script) => follow(script).ended),
    );
    expect(told.map((reason) => reason?.kind === 'tool-refused' && [reason.exitCode, reason.stderr])).to.deep.equal([
      [0, 'it ended by itself'],
      [3, 'why'],
    ]);
  });

  it('tells which signal has ended it', async () => {
    const reason = await follow('kill -KILL $$').ended;
    expect(reason).to.deep.include({ kind: 'tool-refused', exitCode: -1, stderr: 'ended by SIGKILL' });
  });

  it('tells that a tool is missing', async () => {
    const { PATH } = process.env;
    process.env.PATH = '/nowhere';
    try {
      expect(await systemHost.followTool({ tool: 'ip', args: [] }, () => {}).ended).to.deep.equal({
        kind: 'tool-missing',
        tool: 'ip',
      });
    } finally {
      process.env.PATH = PATH;
    }
  });

  describe('of a tool that ends', () => {
    const run = (script: string, call: Partial<ToolCall> = {}) =>
      runProcess({ tool: 'ip', args: [], timeoutMs: 60_000, ...call }, ['sh', '-c', script]);

    it('feeds it, and gives both outputs as they are', async () => {
      const ran = await run('cat; echo more; echo said >&2', { input: 'line\n'.repeat(100_000) });
      expect(ran.ok && ran.value.stdout).to.equal(`${'line\n'.repeat(100_000)}more\n`);
      expect(ran.ok && ran.value.stderr).to.equal('said\n');
    });

    it('has empty input without any, and the language of programs', async () => {
      expect(await run('cat; echo $LC_ALL $0')).to.deep.equal({ ok: true, value: { stdout: 'C ip\n', stderr: '' } });
    });

    it('takes another status than 0 for a refusal, and tells of the script', async () => {
      const refused = await run('cat >&2; exit 2', { input: 'a\n' });
      expect(refused).to.deep.equal({
        ok: false,
        error: { kind: 'tool-refused', tool: 'ip', exitCode: 2, stderr: 'a\n', script: 'a\n' },
      });
    });

    it('takes a word of ipvsadm for a refusal, though its status is 0', async () => {
      const refused = await run('echo no >&2', { tool: 'ipvsadm' });
      expect(!refused.ok && refused.error).to.include({ kind: 'tool-refused', exitCode: 0, stderr: 'no\n' });
    });

    it('is not disturbed by one that does not read its input', async () => {
      const ran = await run('exec <&-; echo done', { input: 'x'.repeat(1 << 20) });
      expect(ran).to.deep.equal({ ok: true, value: { stdout: 'done\n', stderr: '' } });
    });

    it('kills it when its time is over, also one that would rather go on', async () => {
      const killed = await run("trap '' TERM; echo on; while :; do sleep 60; done", { timeoutMs: 1 });
      expect(killed).to.deep.equal({ ok: false, error: { kind: 'tool-timeout', tool: 'ip', afterMs: 1 } });
    });

    it('tells which signal has ended it', async () => {
      const ended = await run('kill -TERM $$');
      expect(!ended.ok && ended.error).to.include({ kind: 'tool-refused', exitCode: -1, stderr: 'ended by SIGTERM' });
    });

    it('tells that it is missing', async () => {
      expect(await runProcess({ tool: 'ip', args: [], timeoutMs: 1000 }, ['/nowhere/sh'])).to.deep.equal({
        ok: false,
        error: { kind: 'tool-missing', tool: 'ip' },
      });
    });

    it('tells why it could not be started', async () => {
      const refused = await runProcess({ tool: 'ip', args: [], timeoutMs: 1000 }, ['/dev/null']);
      expect(!refused.ok && refused.error).to.include({ kind: 'tool-refused', exitCode: -1 });
      expect(!refused.ok && refused.error.kind === 'tool-refused' && refused.error.stderr).to.include('EACCES');
    });

    it('tells so of a start that Node throws out at once, and keeps no file open', async () => {
      const open = () => readdirSync('/proc/self/fd').length;
      const tooLong = { tool: 'ip', args: ['x'.repeat(1 << 18)], input: 'a\n', timeoutMs: 1000 } as const;
      const before = open();
      const refused = await runProcess(tooLong, []);
      expect(!refused.ok && refused.error).to.deep.equal({
        kind: 'tool-refused',
        tool: 'ip',
        exitCode: -1,
        stderr: 'it could not be started: E2BIG',
        script: 'a\n',
      });
      await Promise.all([1, 2, 3].map(() => runProcess(tooLong, [])));
      expect(open()).to.be.at.most(before);
    });

    it('leaves nothing behind for the end of this process', async () => {
      const before = process.listenerCount('exit');
      await run('true');
      expect(process.listenerCount('exit')).to.equal(before);
    });
  });
});
