import { expect } from 'chai';
import { newPace } from './pace.ts';

describe('observe/pace', () => {
  it('rests once some milliseconds have gone by, and then not until as many have gone by again', async () => {
    let now = 0;
    const pace = newPace(() => now);
    expect(pace()).to.equal(undefined);
    now = 4;
    let others = 0;
    setImmediate(() => {
      others += 1;
    });
    await pace();
    expect(others).to.equal(1);
    now = 7;
    expect(pace()).to.equal(undefined);
  });
});
