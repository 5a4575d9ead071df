import { expect } from 'chai';
import { followProcess, systemHost } from './host.ts';

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
});
