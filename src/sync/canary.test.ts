import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { Canary } from './canary.ts';
import type { SyncError } from './ports.ts';

describe('sync/canary', () => {
  let clock: SteppedClock;
  let canary: Canary;
  let answer: Result<readonly string[], SyncError>;
  let looks: number[];
  let told: string[];

  beforeEach(() => {
    clock = new SteppedClock();
    answer = succeed([]);
    looks = [];
    told = [];
    canary = new Canary({
      clock,
      look: async () => {
        looks.push(clock.nowMs());
        return answer;
      },
      drifted: () => told.push('drifted'),
      found: (things) => told.push(`found: ${things.join(', ')}`),
      trouble: (message) => told.push(`trouble: ${message}`),
    });
    canary.start();
  });

  it('looks every five seconds, and has each drift mended', async () => {
    await clock.advance(10_000);
    answer = succeed(['set KUBE-CLUSTER-IP']);
    await clock.advance(10_000);
    expect(looks).to.deep.equal([5_000, 10_000, 15_000, 20_000]);
    expect(told).to.deep.equal(['found: set KUBE-CLUSTER-IP', 'drifted', 'drifted']);
  });

  it('tells what has drifted when that becomes something else, and again when it had been mended', async () => {
    for (const things of [['set A'], ['set A'], ['set A', 'set B'], [], ['set B']]) {
      answer = succeed(things);
      await clock.advance(5_000);
    }
    expect(told.filter((line) => line !== 'drifted')).to.deep.equal([
      'found: set A',
      'found: set A, set B',
      'found: set B',
    ]);
  });

  it('tells why it cannot look when that becomes another reason, and goes on', async () => {
    const failing = (message: string) => fail({ during: 'looking at the kernel', message });
    for (const next of [failing('a'), failing('a'), failing('b'), succeed([]), failing('b')]) {
      answer = next;
      await clock.advance(5_000);
    }
    expect(told).to.deep.equal([
      'trouble: looking at the kernel: a',
      'trouble: looking at the kernel: b',
      'trouble: looking at the kernel: b',
    ]);
  });

  it('looks no more, and says nothing of the look that is on its way, once it is stopped', async () => {
    answer = succeed(['interface kube-ipvs0']);
    const stopped = canary.stop();
    await clock.advance(20_000);
    await stopped;
    expect([looks, told]).to.deep.equal([[], []]);
  });
});
