import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { meanwhile } from './meanwhile.ts';

describe('test/conformance/meanwhile', () => {
  it('repeats while the work goes on, and gives all that was said', async () => {
    let count = 0;
    const again = async () => {
      await setImmediate();
      count += 1;
      return count;
    };
    const said = await meanwhile([again], async () => {
      while (count < 5) await setImmediate();
    });
    expect(said.length).to.be.at.least(5);
    expect(said).to.deep.equal(Array.from({ length: count }, (_, index) => index + 1));
  });

  it('ends with work that fails, and throws its error', async () => {
    let count = 0;
    const again = async () => {
      await setImmediate();
      count += 1;
    };
    const outcome = await meanwhile([again], async () => {
      throw new Error('work');
    }).catch((error: Error) => error.message);
    const atTheEnd = count;
    await setImmediate();
    expect([outcome, count]).to.deep.equal(['work', atTheEnd]);
  });

  it('throws what one that is repeated threw', async () => {
    const broken = async () => {
      throw new Error('broken');
    };
    expect(await meanwhile([broken], async () => {}).catch((error: Error) => error.message)).to.equal('broken');
  });
});
