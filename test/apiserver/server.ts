import { type Clock, systemClock } from '../../src/queue/clock.ts';
import type { ApiObject } from './api-object.ts';
import { makeCertificates } from './certificates.ts';
import { createCluster } from './cluster.ts';
import { applyDirectly, deleteDirectly, type ObjectReference, resourceOf } from './direct-writes.ts';
import { type Fault, Faults } from './faults.ts';
import { type KubeconfigParts, kubeconfigText } from './kubeconfig.ts';
import { Listeners } from './listeners.ts';
import { type HandlerState, handleRequest } from './request-handler.ts';
import { RequestLog } from './requests.ts';
import { Watches } from './watches.ts';

/** How a server is started; every field has a default. */
export interface ServerOptions {
  /** IP addresses to listen on; 127.0.0.1. All use one port. */
  readonly addresses?: readonly string[];
  /** 0, the default: any free port. */
  readonly port?: number;
  readonly scheme?: 'https' | 'http';
  /** Extra addresses and names in the server's certificate. */
  readonly certificateAddresses?: readonly string[];
  /** The bearer token that every request must carry; absent: none is asked for. */
  readonly token?: string;
  /** PEM text of the authority that the certificate of every client must be from; absent: none is asked for. */
  readonly clientCa?: string;
  /** Time between bookmarks of a watch, 60 s. */
  readonly bookmarkMs?: number;
  /** How many writes watches can resume from, 10,000. */
  readonly historyLimit?: number;
  /** Time for bookmarks and watch timeouts. */
  readonly clock?: Clock;
}

/** A running API server with the switches that tests need. */
export interface ApiServer {
  /** URL of the first address. */
  readonly url: string;
  /** PEM text of the authority behind the server's certificate; absent over plain HTTP. */
  readonly ca: string | undefined;
  readonly requests: RequestLog;
  readonly watches: Watches;
  /** Connections that are open now. */
  readonly connections: () => number;
  readonly kubeconfig: (parts?: Partial<KubeconfigParts>) => string;
  /** Creates or replaces an object, its status included; throws when it is malformed or of an unknown kind. */
  readonly apply: (object: unknown) => ApiObject;
  /** Deletes an object at once, finalizers or not; false when there is none. */
  readonly delete: (reference: ObjectReference) => boolean;
  readonly get: (reference: ObjectReference) => ApiObject | undefined;
  /** All objects of a kind such as `Service`, in the form they are kept in. */
  readonly list: (kind: string) => readonly ApiObject[];
  /** Makes every resourceVersion handed out so far too old. */
  readonly compact: () => void;
  /** Sends a bookmark on every watch that takes them. */
  readonly bookmark: () => void;
  /** Breaks the connection of every watch, after some text if it is given. */
  readonly cutWatches: (lastWords?: string) => void;
  /** Sends any text, well-formed or not, on every watch, or on those of one resource such as `services`. */
  readonly writeToWatches: (text: string, plural?: string) => void;
  readonly fault: (fault: Fault) => void;
  readonly clearFaults: () => void;
  /** Cuts all bodies into pieces of this many bytes; undefined: no more. */
  readonly slowBodies: (pieceBytes: number | undefined) => void;
  /** Changes the token that is asked for. */
  readonly setToken: (token: string | undefined) => void;
  /** Shows a new certificate of a new authority, and asks clients for certificates of this one, on new connections. Gives the PEM of the new authority. */
  readonly renewCertificates: (clientCa?: string) => Promise<string>;
  /** Sends nothing any more on any connection that is open, for good, nor on new ones until {@link speak}. Nothing is closed. */
  readonly fallSilent: () => void;
  readonly speak: () => void;
  /** Refuses connections and breaks those that are open, until {@link startAccepting}. */
  readonly stopAccepting: () => Promise<void>;
  readonly startAccepting: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts an API server with an empty cluster. Rejects when openssl is missing or an address cannot be bound. */
export async function startApiServer(options: ServerOptions = {}): Promise<ApiServer> {
  const {
    addresses = ['127.0.0.1'],
    port = 0,
    scheme = 'https',
    certificateAddresses = [],
    token,
    clock = systemClock,
  } = options;
  const { bookmarkMs = 60_000, historyLimit = 10_000 } = options;
  const certificates = scheme === 'https' ? await makeCertificates([...addresses, ...certificateAddresses]) : undefined;
  const cluster = createCluster(historyLimit);
  const parts = {
    cluster,
    faults: new Faults(),
    requests: new RequestLog(),
    watches: new Watches(),
    clock,
    bookmarkMs,
  };
  const { clientCa } = options;
  const state: HandlerState & { ca: string | undefined } = {
    ...parts,
    token,
    clientCa,
    ca: certificates?.ca,
    silent: false,
    forsaken: (socket) => listeners.isForsaken(socket),
    pieceBytes: undefined,
  };
  const listeners = new Listeners(
    addresses,
    port,
    certificates,
    clientCa,
    (incoming, response) => void handleRequest(state, incoming, response),
  );
  await listeners.open();
  const { watches, requests, faults } = state;
  return {
    url: listeners.url,
    get ca() {
      return state.ca;
    },
    requests,
    watches,
    connections: () => listeners.connections,
    kubeconfig: (parts) => kubeconfigText({ server: listeners.url, ca: state.ca, token: state.token, ...parts }),
    apply: (object) => applyDirectly(cluster, object),
    delete: (reference) => deleteDirectly(cluster, reference),
    get: ({ kind, namespace, name }) => cluster.store.get(resourceOf(kind).plural, namespace, name),
    list: (kind) => cluster.store.list(resourceOf(kind).plural),
    compact: () => cluster.history.compact(),
    bookmark: () => [...watches].forEach((watch) => void watch.bookmark()),
    cutWatches: (lastWords) => [...watches].forEach(({ sink }) => void sink.cut(lastWords)),
    writeToWatches: (text, plural) => {
      for (const { sink, options } of watches)
        if (plural === undefined || options.selection.resource.plural === plural) sink.write(text);
    },
    fault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    slowBodies: (pieceBytes) => void Object.assign(state, { pieceBytes }),
    setToken: (wanted) => void Object.assign(state, { token: wanted }),
    renewCertificates: async (wanted) => {
      const renewed = await makeCertificates([...addresses, ...certificateAddresses]);
      listeners.renew(renewed, wanted);
      Object.assign(state, { clientCa: wanted, ca: renewed.ca });
      return renewed.ca;
    },
    fallSilent: () => {
      state.silent = true;
      for (const { sink } of watches) sink.mute();
      listeners.forsake();
    },
    speak: () => {
      state.silent = false;
    },
    stopAccepting: () => listeners.close(),
    startAccepting: () => listeners.open(),
    stop: () => listeners.close(),
  };
}
