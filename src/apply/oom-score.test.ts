import { expect } from 'chai';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { adjustOomScore } from './oom-score.ts';

const FILE = '/proc/self/oom_score_adj';

describe('apply/oom-score', () => {
  for (const score of [-1000, -999, 0, 1000]) {
    it(`sets ${score}`, async () => {
      const host = memoryKernel({});
      host.files.set(FILE, '5\n');
      expect(await adjustOomScore(host, score)).to.equal(undefined);
      expect(host.files.get(FILE)).to.equal(`${score}`);
    });
  }

  it('tells the reason where it may not be lowered, and does not ask where it is so already', async () => {
    const host = memoryKernel({});
    host.files.set(FILE, '0\n');
    host.writeText = async (path) => ({ ok: false, error: { kind: 'file-failed', path, code: 'EACCES' } });
    expect(await adjustOomScore(host, -999)).to.equal(`${FILE} could not be set to -999: EACCES`);
    expect(await adjustOomScore(host, 0)).to.equal(undefined);
  });
});
