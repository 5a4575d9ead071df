import { expect } from 'chai';
import { ListWatchCounter } from './list-watch-counts.ts';

describe('kube/list-watch-counts', () => {
  let now: number;
  let counter: ListWatchCounter;

  beforeEach(() => {
    now = 0;
    counter = new ListWatchCounter(() => now);
  });

  it('counts a watch as begun again when there was no list since the one before', () => {
    counter.listed(0);
    counter.watched();
    counter.watched();
    counter.listed(2);
    counter.watched();
    expect(counter.read()).to.deep.include({ lists: 2, watches: 3, restarts: 1, missedDeletions: 2 });
  });

  it('tells events from bookmarks, and has heard of the server by both', () => {
    expect(counter.read().lastHeardMs).to.equal(undefined);
    now = 5;
    counter.took('events');
    expect(counter.read().lastHeardMs).to.equal(5);
    now = 7;
    counter.took('bookmarks');
    expect(counter.read()).to.deep.include({ events: 1, bookmarks: 1, lastHeardMs: 7 });
  });

  it('counts failures by their kind, without requests that were given up by ourselves, which are no sign of the server', () => {
    counter.failed({ kind: 'unreachable', url: '', message: '' });
    counter.failed({ kind: 'aborted' });
    counter.relists('expired');
    const { failures, relists, lastHeardMs } = counter.read();
    expect({ failures, relists, lastHeardMs }).to.deep.equal({
      failures: { unreachable: 1, refused: 0, malformed: 0 },
      relists: { expired: 1, malformed: 0 },
      lastHeardMs: undefined,
    });
  });

  it('gives a reading that does not change afterwards', () => {
    const before = counter.read();
    counter.listed(1);
    counter.relists('malformed');
    expect(before).to.deep.include({ lists: 0, relists: { expired: 0, malformed: 0 } });
  });
});
