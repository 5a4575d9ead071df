import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { awaitFirstLists, type FirstLists } from './first-lists.ts';

describe('kube/first-lists', () => {
  let clock: SteppedClock;
  let told: (readonly string[])[];
  let lists: FirstLists;

  beforeEach(() => {
    clock = new SteppedClock();
    told = [];
    lists = awaitFirstLists({
      clock,
      needed: ['services', 'nodes'],
      wished: ['other nodes'],
      patienceMs: 10_000,
      done: (late) => told.push(late),
    });
  });

  it('tells at once when the last one comes, in any order', () => {
    for (const resource of ['other nodes', 'nodes']) lists.listed(resource);
    expect(told).to.deep.equal([]);
    lists.listed('services');
    expect([told, clock.pending()]).to.deep.equal([[[]], []]);
  });

  it('waits for what it needs without an end', async () => {
    lists.listed('nodes');
    await clock.advance(3_600_000);
    expect(told).to.deep.equal([]);
  });

  it('waits for what it wishes for only so long after the others, and names it', async () => {
    await clock.advance(60_000);
    lists.listed('nodes');
    lists.listed('services');
    await clock.advance(9_999);
    expect(told).to.deep.equal([]);
    await clock.advance(1);
    expect(told).to.deep.equal([['other nodes']]);
  });

  it('does not tell twice when the late one comes after all', async () => {
    for (const resource of ['nodes', 'services']) lists.listed(resource);
    await clock.advance(10_000);
    lists.listed('other nodes');
    expect(told).to.have.lengthOf(1);
  });

  it('tells when the one that is wished for comes in time, and once', async () => {
    for (const resource of ['nodes', 'services']) lists.listed(resource);
    await clock.advance(5_000);
    lists.listed('other nodes');
    await clock.advance(60_000);
    expect(told).to.deep.equal([[]]);
  });

  it('tells nothing once it is stopped', async () => {
    for (const resource of ['nodes', 'services']) lists.listed(resource);
    lists.stop();
    await clock.advance(60_000);
    lists.listed('other nodes');
    expect([told, clock.pending()]).to.deep.equal([[], []]);
  });
});
