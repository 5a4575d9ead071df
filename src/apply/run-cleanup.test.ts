import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { NOTHING_REMOVED } from '../cleanup/leftovers.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Host } from './host.ts';
import { type Look, runCleanup, scriptSteps } from './run-cleanup.ts';
import type { ToolError, ToolOutput } from './tool.ts';

describe('apply/run-cleanup', () => {
  let ran: string[];

  beforeEach(() => {
    ran = [];
  });

  /** A machine whose tools answer by `answer`; they succeed where it gives nothing. */
  function hostWith(answer: (input: string) => string | undefined): Host {
    return {
      runTool: async ({ tool, input = '' }): Promise<Result<ToolOutput, ToolError>> => {
        ran.push(input.trim());
        const stderr = answer(input);
        if (stderr === undefined) return succeed({ stdout: '', stderr: '' });
        return fail({ kind: 'tool-refused', tool, exitCode: 1, stderr, script: input });
      },
      readText: async (path) => fail({ kind: 'file-failed', path, code: 'ENOENT' }),
      writeText: async (path) => fail({ kind: 'file-failed', path, code: 'EROFS' }),
    };
  }

  function lookOf(steps: Look['steps'], sets = 0): Look {
    return { steps, removed: { ...NOTHING_REMOVED, sets }, kept: [], troubles: [] };
  }

  /** What is seen, one look after the other; the last one from then on. */
  function looks(...each: readonly Look[]): () => Promise<Look> {
    let index = 0;
    return async () => {
      const look = each[Math.min(index, each.length - 1)];
      index += 1;
      if (!look) throw new Error('there is nothing to see');
      return look;
    };
  }

  const servers = scriptSteps([{ tool: 'ipvs', text: '-D -t 172.20.1.1:80\n' }]);
  const twoSteps = [...servers, ...scriptSteps([{ tool: 'address', text: 'link delete kube-ipvs0\n' }])];
  const sets = scriptSteps([], ['ONE', 'TWO']);

  it('runs what is to be run, looks again, and tells what has gone', async () => {
    const cleaned = await runCleanup(
      hostWith(() => undefined),
      new SteppedClock(),
      looks(lookOf(sets, 2), lookOf([])),
    );
    expect(cleaned).to.deep.equal({ removed: { ...NOTHING_REMOVED, sets: 2 }, kept: [], troubles: [] });
    expect(ran).to.deep.equal(['destroy ONE\ndestroy TWO']);
  });

  it('runs nothing where there is nothing', async () => {
    await runCleanup(
      hostWith(() => undefined),
      new SteppedClock(),
      looks(lookOf([])),
    );
    expect(ran).to.deep.equal([]);
  });

  it('runs nothing after a step that failed, and plans anew', async () => {
    const refuses = (input: string) => (input.startsWith('-D') && ran.length === 1 ? 'No such service\n' : undefined);
    const cleaned = await runCleanup(
      hostWith(refuses),
      new SteppedClock(),
      looks(lookOf(twoSteps), lookOf(twoSteps.slice(1)), lookOf([])),
    );
    expect(ran).to.deep.equal(['-D -t 172.20.1.1:80', 'link delete kube-ipvs0']);
    expect(cleaned.troubles).to.deep.equal([]);
  });

  it('tells why it failed when that does not help either', async () => {
    const cleaned = await runCleanup(
      hostWith(() => 'Operation not permitted\n'),
      new SteppedClock(),
      looks(lookOf(servers)),
    );
    expect(ran).to.have.lengthOf(3);
    expect(cleaned.troubles).to.deep.equal(['ipvsadm failed with status 1: Operation not permitted']);
  });

  it('tells what could not be looked at', async () => {
    const blind = { ...lookOf([]), troubles: ['IPv6 rules stay: a reason'] };
    const { troubles } = await runCleanup(
      hostWith(() => undefined),
      new SteppedClock(),
      looks(blind),
    );
    expect(troubles).to.deep.equal(['IPv6 rules stay: a reason']);
  });

  it('destroys sets one by one where the kernel refuses some, and tries these for a while', async () => {
    const clock = new SteppedClock();
    const refuses = (input: string) =>
      input.includes('TWO') && clock.nowMs() < 700 ? 'Set cannot be destroyed: it is in use\n' : undefined;
    const cleaning = runCleanup(hostWith(refuses), clock, looks(lookOf(sets, 2), lookOf([])));
    await clock.advance(1_500);
    expect(await cleaning).to.deep.include({ troubles: [] });
    expect(ran.slice(1)).to.deep.equal(['destroy ONE', ...Array(4).fill('destroy TWO')]);
  });

  it('takes a set that is gone for destroyed', async () => {
    const answer = (input: string) =>
      input.includes('ONE') ? 'The set with the given name does not exist\n' : undefined;
    const cleaned = await runCleanup(hostWith(answer), new SteppedClock(), looks(lookOf(sets, 2), lookOf([])));
    expect(cleaned.troubles).to.deep.equal([]);
    expect(ran).to.deep.equal(['destroy ONE\ndestroy TWO', 'destroy ONE', 'destroy TWO']);
  });
});
