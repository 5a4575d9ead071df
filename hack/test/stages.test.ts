import { expect } from 'chai';
import { countStage, notRun } from './stages.ts';

describe('hack/test/stages', () => {
  it('counts a check as one test', () => {
    expect(countStage('check', 0, '')).to.deep.equal({ passed: 1, failed: 0 });
    expect(countStage('check', 1, '12 passing')).to.deep.equal({ passed: 0, failed: 1 });
  });

  it('takes the numbers that mocha prints', () => {
    expect(countStage('mocha', 0, '\n  12 passing (3s)\n')).to.deep.equal({ passed: 12, failed: 0 });
    expect(countStage('mocha', 2, '\n  12 passing (3s)\n  2 failing\n')).to.deep.equal({ passed: 12, failed: 2 });
  });

  it('takes the last line of a stage that counts for itself', () => {
    const output = 'lab dual: 3 passed, 0 failed in 9 s\n\n10 passed, 0 failed\n';
    expect(countStage('own', 0, output)).to.deep.equal({ passed: 10, failed: 0 });
    expect(countStage('own', 1, '\n7 passed, 2 failed\n')).to.deep.equal({ passed: 7, failed: 2 });
    expect(countStage('own', 1, '7 passed, 0 failed\n')).to.deep.equal({ passed: 7, failed: 1 });
    expect(countStage('own', 0, '7 passed, 0 failed\nkilled\n')).to.deep.equal({ passed: 0, failed: 1 });
  });

  it('does not count a test that could not run', () => {
    const output = 'NOT RUN lists with kubectl: kubectl not found\n  12 passing (3s)\n';
    expect(countStage('mocha', 0, output)).to.deep.equal({ passed: 11, failed: 0 });
  });

  it('counts a run that breaks off as a failure', () => {
    expect(countStage('mocha', 125, 'the kernel died')).to.deep.equal({ passed: 0, failed: 1 });
    expect(countStage('mocha', 124, '  7 passing (1m)\n')).to.deep.equal({ passed: 7, failed: 1 });
    expect(countStage('mocha', 0, '')).to.deep.equal({ passed: 0, failed: 1 });
  });

  it('collects what could not run, with its reason', () => {
    expect(notRun('a\n    NOT RUN lists with kubectl: kubectl not found\nb')).to.deep.equal([
      'NOT RUN lists with kubectl: kubectl not found',
    ]);
  });
});
