import { expect } from 'chai';
import { describeRemoved, NOTHING_REMOVED, removedBetween } from './leftovers.ts';

describe('cleanup/leftovers', () => {
  it('names what was removed by its number, and nothing that was not', () => {
    expect(describeRemoved(NOTHING_REMOVED)).to.equal(undefined);
    expect(describeRemoved({ ...NOTHING_REMOVED, virtualServers: 1, interfaces: 1, sets: 40 })).to.equal(
      'removed 1 virtual server, interface kube-ipvs0, 40 sets',
    );
    expect(
      describeRemoved({ virtualServers: 2, addresses: 3, interfaces: 0, chains: 4, rules: 1, sets: 0, tables: 1 }),
    ).to.equal('removed 2 virtual servers, 3 addresses, 4 chains, 1 rule of other chains, 1 table');
  });

  it('does not count what is still there, or has come meanwhile', () => {
    const first = { ...NOTHING_REMOVED, sets: 40, chains: 2 };
    expect(removedBetween(first, { ...NOTHING_REMOVED, sets: 1, chains: 3 })).to.deep.equal({
      ...NOTHING_REMOVED,
      sets: 39,
    });
  });
});
