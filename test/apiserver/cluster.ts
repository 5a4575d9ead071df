import { Allocator } from './allocator.ts';
import { History } from './history.ts';
import { ObjectStore } from './store.ts';

/** Everything the server knows about its cluster. */
export interface Cluster {
  readonly history: History;
  readonly store: ObjectStore;
  readonly allocator: Allocator;
}

/** An empty cluster. `historyLimit`: how many writes watches can resume from. */
export function createCluster(historyLimit: number): Cluster {
  const history = new History(historyLimit);
  const allocator = new Allocator();
  history.subscribe(({ plural, previous, current }) => {
    if (plural === 'services') allocator.note(previous, current);
  });
  return { history, store: new ObjectStore(history), allocator };
}
