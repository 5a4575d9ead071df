import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiServer, startApiServer } from '../../test/apiserver/server.ts';
import { scaledClock } from '../../test/chaos/scaled-clock.ts';
import { openTransport } from '../kube/client.ts';
import type { ApiTransport } from '../kube/client-transport.ts';
import { type ClusterWatch, watchCluster } from '../kube/watch-cluster.ts';
import { FAMILIES } from '../net/family.ts';
import type { ServiceChange } from '../queue/change.ts';
import { systemClock } from '../queue/clock.ts';
import { DEFAULT_QUEUE_SETTINGS } from '../queue/settings.ts';
import { ChangeIntake } from '../sync/change-intake.ts';
import { ClusterRecord } from '../sync/cluster-record.ts';
import { EventFilter } from './event-filter.ts';
import { openTrace, readTrace } from './read-trace.ts';
import { Recorder } from './recorder.ts';

describe('replay/recorder with an API server', () => {
  const { thresholds } = DEFAULT_QUEUE_SETTINGS;
  let api: ApiServer;
  let folder: string;
  let transport: ApiTransport;
  let watch: ClusterWatch;
  let recorder: Recorder;
  let live: string[];
  let isListed: boolean;
  /** Told of everything that happens, until it is content. */
  let look: () => void;

  const describeChange = ({ service, kind, level, magnitude, readyBefore, readyAfter }: ServiceChange) =>
    `${service} ${kind} ${level} ${magnitude} ${readyBefore} ${readyAfter}`;

  const until = (isThere: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (isThere()) resolve();
      };
      look();
    });

  /** The daemon's way of events, with a list of what comes out in place of a queue. */
  function followLive(): void {
    const record = new ClusterRecord(FAMILIES, 'node-a');
    const add = (change: ServiceChange) => live.push(describeChange(change)) > 0;
    const intake = new ChangeIntake(record, { add }, thresholds, { drop: () => {} });
    const told = <Args extends readonly unknown[]>(take: (...args: Args) => void) => {
      return (...args: Args) => {
        take(...args);
        look();
      };
    };
    watch = watchCluster({
      transport,
      nodeName: 'node-a',
      otherNodes: 'watched',
      clock: scaledClock(40),
      random: () => 0,
      tap: (kind, type, object) => recorder.record(kind, type, object),
      handler: {
        service: told((previous, current) => intake.service(previous, current)),
        slice: told((previous, current) => intake.slice(previous, current)),
        node: told((_, current) => current && record.node(current) && live.push('node')),
        otherNode: told((previous, current) => record.otherNode(previous, current) && live.push('other nodes')),
        listed: told(() => {
          recorder.listed();
          isListed = true;
        }),
        problem: () => {},
        trouble: () => {},
        recovered: () => {},
      },
    });
    watch.start();
  }

  async function replayed(
    file: string,
  ): Promise<{ readonly changes: readonly string[]; readonly times: readonly number[] }> {
    const filter = new EventFilter({ nodeName: 'node-a', otherNodes: 'watched', thresholds, problem: () => {} });
    const [changes, times]: [string[], number[]] = [[], []];
    const fault = ({ message }: { readonly message: string }) => expect.fail(message);
    for await (const events of readTrace(openTrace(file), fault)) {
      for (const event of events) {
        const verdict = filter.judge(event);
        times.push(event.atMs);
        if (verdict.kind === 'changes') changes.push(...verdict.changes.map(describeChange));
        if (verdict.kind === 'node') changes.push(verdict.reason);
      }
    }
    return { changes, times };
  }

  const service = (name: string, clusterIP: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name, ...more },
    spec: { clusterIP, clusterIPs: [clusterIP], ports: [{ name: 'http', port: 80 }] },
  });
  const slice = (of: string, ready: readonly boolean[], more: object = {}) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'shop', name: `${of}-1`, labels: { 'kubernetes.io/service-name': of }, ...more },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: ready.map((isReady, index) => ({
      addresses: [`10.180.0.${index + 1}`],
      conditions: { ready: isReady },
      nodeName: `node-${index % 2 === 0 ? 'a' : 'b'}`,
    })),
  });
  const node = (name: string, address: string) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { addresses: [{ type: 'InternalIP', address }] },
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'recorded-watch-'));
    api = await startApiServer();
    writeFileSync(join(folder, 'kubeconfig'), api.kubeconfig());
    const opened = openTransport({
      kubeconfig: join(folder, 'kubeconfig'),
      master: '',
      userAgent: 'test',
      clock: systemClock,
    });
    if (!opened.ok) throw new Error(opened.error.message);
    transport = opened.value;
    recorder = new Recorder({
      file: join(folder, 'trace.jsonl.gz'),
      clock: systemClock,
      trouble: (message) => expect.fail(message),
    });
    [live, isListed, look] = [[], false, () => {}];
  });
  afterEach(async () => {
    await watch.stop();
    transport.close();
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  it('records what replays to the same changes as were seen live, over a relist too', async () => {
    for (const object of [
      node('node-a', '192.168.0.10'),
      node('node-b', '192.168.0.11'),
      service('cart', '10.96.0.10'),
      slice('cart', [true, true, true, true]),
      service('gone', '10.96.0.11'),
    ])
      api.apply(object);
    followLive();
    await until(() => isListed);
    await Promise.all(['services', 'endpointslices'].map((plural) => api.watches.until(plural, 1)));
    const watched = live.length;

    api.apply(slice('cart', [true, true, true, true], { annotations: { only: 'noise' } }));
    api.apply(slice('cart', [true, false, true, true]));
    api.apply(slice('cart', [true, false, true, true, true]));
    api.apply(service('cart', '10.96.0.10', { labels: { app: 'cart' } }));
    api.apply(node('node-b', '192.168.0.12'));
    await until(() => live.filter((line) => line.startsWith('shop/cart')).length >= 4 && live.includes('other nodes'));
    await until(() => live.length >= watched + 3);

    const cut = Promise.all(['services', 'endpointslices'].map((plural) => api.watches.until(plural, 0)));
    await api.stopAccepting();
    await cut;
    api.delete({ kind: 'Service', namespace: 'shop', name: 'gone' });
    api.apply(service('new', '10.96.0.12'));
    api.apply(slice('cart', [false, false, false, false, false]));
    api.compact();
    await api.startAccepting();
    const seen = (start: string) => live.some((line) => line.startsWith(start));
    await until(
      () =>
        seen('shop/gone service-removed') &&
        seen('shop/new service-added') &&
        seen('shop/cart ready-to-not-ready critical'),
    );

    await watch.stop();
    await recorder.close();
    const { changes, times } = await replayed(join(folder, 'trace.jsonl.gz'));
    expect(changes).to.deep.equal(live);
    expect(times.filter((atMs) => atMs === 0).length).to.be.at.least(5);
    expect(times.at(-1)).to.be.greaterThan(0);
  });
});
