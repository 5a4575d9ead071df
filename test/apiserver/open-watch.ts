import type { CancelTimer, Clock } from '../../src/queue/clock.ts';
import type { ApiObject } from './api-object.ts';
import type { Cluster } from './cluster.ts';
import type { Change } from './history.ts';
import { listNamespaces } from './namespaces.ts';
import { apiVersionOf } from './resources.ts';
import type { Selection } from './selection.ts';
import { expired } from './status.ts';

/** What one watch asked for. */
export interface WatchOptions {
  readonly selection: Selection;
  /** The version to resume after; undefined begins with the objects there are, as ADDED. */
  readonly from: number | undefined;
  readonly bookmarks: 'wanted' | 'unwanted';
  readonly timeoutMs: number;
  /** The object as the client wants to see it. */
  readonly show: (object: ApiObject) => unknown;
}

/** Where the lines of a watch go. */
export interface WatchSink {
  write(text: string): void;
  end(): void;
  /** Breaks the connection without ending the body, after some text if it is given. */
  cut(lastWords?: string): void;
  /** Sends nothing any more, and leaves the connection open. */
  mute(): void;
}

/** One watch from its first event to its end. */
export class OpenWatch {
  readonly options: WatchOptions;
  readonly sink: WatchSink;
  readonly #cluster: Cluster;
  #close: () => void = () => {};

  constructor(options: WatchOptions, cluster: Cluster, sink: WatchSink) {
    this.options = options;
    this.#cluster = cluster;
    this.sink = sink;
  }

  /** Sends what happened so far, then each write as it happens, until the timeout or {@link close}. */
  start(clock: Clock, bookmarkMs: number): void {
    const { history } = this.#cluster;
    const { from, timeoutMs } = this.options;
    const missed = from === undefined ? this.#existing() : history.since(from);
    if (missed === undefined) {
      this.#send('ERROR', expired(`too old resource version: ${from} (${history.revision})`));
      this.sink.end();
      return;
    }
    for (const change of missed) this.#report(change);
    const unsubscribe = history.subscribe((change) => this.#report(change));
    const cancelTimeout = clock.after(timeoutMs, () => {
      this.close();
      this.sink.end();
    });
    const cancelBookmarks = every(clock, bookmarkMs, () => this.bookmark());
    this.#close = () => {
      unsubscribe();
      cancelTimeout();
      cancelBookmarks();
    };
  }

  /** Stops sending; harmless when repeated. */
  close(): void {
    this.#close();
  }

  /** Sends a bookmark with the newest version, if the client takes them. */
  bookmark(): void {
    if (this.options.bookmarks === 'unwanted') return;
    const { kind, ...resource } = this.options.selection.resource;
    const metadata = { resourceVersion: String(this.#cluster.history.revision), creationTimestamp: null };
    this.#send('BOOKMARK', { kind, apiVersion: apiVersionOf(resource), metadata });
  }

  #existing(): readonly Change[] {
    const { plural } = this.options.selection.resource;
    const objects = plural === 'namespaces' ? listNamespaces(this.#cluster) : this.#cluster.store.list(plural);
    return objects.map((current) => ({
      revision: Number(current.metadata.resourceVersion),
      plural,
      previous: undefined,
      current,
    }));
  }

  #report({ plural, previous, current, revision }: Change): void {
    const { selection, show } = this.options;
    if (plural !== selection.resource.plural) return;
    const before = previous !== undefined && selection.selects(previous);
    const after = current !== undefined && selection.selects(current);
    if (after) this.#send(before ? 'MODIFIED' : 'ADDED', show(current));
    else if (before) this.#send('DELETED', show(withRevision(previous, revision)));
  }

  #send(type: string, object: unknown): void {
    this.sink.write(`${JSON.stringify({ type, object })}\n`);
  }
}

/** What a watch says of an object that left its selection: the last state it selected, at the version of the write. */
function withRevision(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

function every(clock: Clock, periodMs: number, run: () => void): CancelTimer {
  let cancel = clock.after(periodMs, function again() {
    run();
    cancel = clock.after(periodMs, again);
  });
  return () => cancel();
}
