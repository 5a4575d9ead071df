import { expect } from 'chai';
import { editDistance, nearestFirst, suggest } from './suggest.ts';

describe('config/suggest', () => {
  const distances: [string, string, number][] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['same', 'same', 0],
    ['kitten', 'sitting', 3],
    ['sheduler', 'scheduler', 1],
  ];
  for (const [from, to, distance] of distances) {
    it(`counts ${distance} letters between "${from}" and "${to}"`, () =>
      expect(editDistance(from, to)).to.equal(distance));
  }

  const words: [string, string | undefined][] = [
    ['sheduler', 'scheduler'],
    ['strictArp', 'strictARP'],
    ['minSyncPeriods', 'minSyncPeriod'],
    ['synPeriod', 'syncPeriod'],
    ['banana', undefined],
    ['max', undefined],
  ];
  for (const [word, meant] of words) {
    it(`takes "${word}" for ${meant ?? 'nothing it knows'}`, () =>
      expect(suggest(word, ['scheduler', 'strictARP', 'syncPeriod', 'minSyncPeriod', 'min'])).to.equal(meant));
  }

  it('puts what is nearest first, and what is as near in the order of names', () =>
    expect(nearestFirst('Node-c', ['other', 'node-b', 'node-c1', 'node-a'])).to.deep.equal([
      'node-a',
      'node-b',
      'node-c1',
      'other',
    ]));
});
