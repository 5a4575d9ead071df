import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { DueRequests } from './due-requests.ts';

describe('queue/due-requests', () => {
  let clock: SteppedClock;
  let requests: DueRequests;
  let asked: string[];

  beforeEach(() => {
    clock = new SteppedClock();
    asked = [];
    requests = new DueRequests(clock, { request: (reason) => asked.push(`${reason} at ${clock.nowMs()}`) });
  });

  it('asks at once for what is due, with its level', () => {
    requests.dueAt(0, 'critical');
    expect(asked).to.deep.equal(['critical at 0']);
    expect(clock.pending()).to.deep.equal([]);
  });

  it('asks when the time has come', async () => {
    requests.dueAt(500, 'normal');
    await clock.advance(499);
    expect(asked).to.deep.equal([]);
    await clock.advance(1);
    expect(asked).to.deep.equal(['normal at 500']);
  });

  it('moves to an earlier time, and not to a later one', async () => {
    requests.dueAt(2_000, 'low');
    requests.dueAt(100, 'high');
    requests.dueAt(500, 'normal');
    expect(clock.pending()).to.deep.equal([100]);
    await clock.advance(3_000);
    expect(asked).to.deep.equal(['high at 100']);
  });

  it('names the most urgent of what is due at the same time', async () => {
    requests.dueAt(20, 'low');
    requests.dueAt(20, 'critical');
    requests.dueAt(20, 'high');
    await clock.advance(20);
    expect(asked).to.deep.equal(['critical at 20']);
  });

  it('asks once for each level until a pass has taken what was due', () => {
    for (const level of ['low', 'critical', 'low', 'critical'] as const) requests.dueAt(0, level);
    expect(asked).to.deep.equal(['low at 0', 'critical at 0']);
    requests.taken();
    requests.dueAt(0, 'critical');
    expect(asked).to.deep.equal(['low at 0', 'critical at 0', 'critical at 0']);
  });

  it('asks for nothing when a pass has taken it before', async () => {
    requests.dueAt(500, 'normal');
    requests.taken();
    expect(clock.pending()).to.deep.equal([]);
    requests.dueAt(900, 'low');
    await clock.advance(2_000);
    expect(asked).to.deep.equal(['low at 900']);
  });

  it('waits on when a timer fires early, and longer than one timer can', async () => {
    const early = new DueRequests(
      { nowMs: () => clock.nowMs(), after: (delayMs, run) => clock.after(delayMs > 10 ? delayMs * 0.9 : delayMs, run) },
      { request: (reason) => asked.push(`${reason} at ${Math.round(clock.nowMs())}`) },
    );
    early.dueAt(2 ** 33, 'low');
    await clock.advance(2 ** 33);
    expect(asked).to.deep.equal([`low at ${2 ** 33}`]);
  });
});
