import { expect } from 'chai';
import type { LockError, LockOptions, lockNode } from './apply/node-lock.ts';
import { holdNode } from './hold-node.ts';
import { fail, succeed } from './model/result.ts';

describe('hold-node', () => {
  const never = new Promise<never>(() => {});
  let happened: string[];

  beforeEach(() => {
    happened = [];
  });

  const free: typeof lockNode = async () => {
    happened.push('locked');
    return succeed({
      release: async () => {
        happened.push('released');
      },
    });
  };
  /** Somebody else has it for as long as is waited. */
  const held: typeof lockNode = async (_, { patienceMs, signal, waiting }: LockOptions) => {
    const error: LockError = { kind: 'lock-held' };
    if (patienceMs > 0) waiting?.(error);
    if (patienceMs > 0) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    return fail(error);
  };

  function parts(lock: typeof lockNode, patienceMs = 0, stop: Promise<unknown> = never) {
    const waiting = (why: string) => happened.push(`waiting: ${why}`);
    return { lock, command: 'run', version: '1.2.3', patienceMs, stop, waiting } as const;
  }

  it('does the work between taking the lock and giving it back', async () => {
    const done = await holdNode(parts(free), async () => {
      happened.push('worked');
      return 7;
    });
    expect([done, happened]).to.deep.equal([succeed(7), ['locked', 'worked', 'released']]);
  });

  it('gives the lock back when the work throws', async () => {
    const thrown = await holdNode(parts(free), () => Promise.reject(new Error('a bug'))).catch(String);
    expect([thrown, happened]).to.deep.equal(['Error: a bug', ['locked', 'released']]);
  });

  it('does no work while another one has it, and tells why', async () => {
    const done = await holdNode(parts(held), async () => happened.push('worked'));
    expect([done, happened]).to.deep.equal([fail({ kind: 'lock-held' }), []]);
  });

  it('ends its waiting when it is told to stop', async () => {
    const stop = Promise.withResolvers<void>();
    const waiting = holdNode(parts(held, 15_000, stop.promise), async () => happened.push('worked'));
    stop.resolve();
    expect(await waiting).to.deep.equal(fail({ kind: 'stopped' }));
    expect(happened).to.deep.equal([
      'waiting: another process has abstract socket @ipvs-proxier, and does not tell which one it is',
    ]);
  });
});
