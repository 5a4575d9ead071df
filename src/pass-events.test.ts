import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApiServer } from '../test/apiserver/server.ts';
import { nodeObject, serviceObject } from '../test/kernel/cluster-objects.ts';
import { NodeUnderTest } from '../test/kernel/node-under-test.ts';
import { SteppedClock } from '../test/stepped-clock.ts';
import { openTransport } from './kube/client.ts';
import type { ReportedEvent } from './observe/events-body.ts';
import { eventsInApi, PassEvents } from './pass-events.ts';
import type { ServiceQueue } from './queue/service-queue.ts';
import type { Refusal } from './sync/sync-family.ts';

describe('pass-events', () => {
  let reported: ReportedEvent[];
  let events: PassEvents;

  beforeEach(() => {
    reported = [];
    const report = (event: ReportedEvent) => void reported.push(event);
    events = new PassEvents({ nodeName: 'node-a', report, serviceUid: (service) => `uid of ${service}` });
  });

  const take = () =>
    reported.splice(0).map(({ regarding, type, reason, note }) => `${type} ${reason} ${regarding.name}: ${note}`);

  it('tells of the node itself by the uid that the kubelet uses', () => {
    events.started('1.2.3');
    events.schedulerReplaced('scheduler mh cannot be used');
    expect(reported.map(({ regarding }) => regarding)).to.deep.equal([
      { kind: 'Node', name: 'node-a', uid: 'node-a' },
      { kind: 'Node', name: 'node-a', uid: 'node-a' },
    ]);
    expect(take()).to.deep.equal([
      'Normal Starting node-a: ipvs-proxier 1.2.3 programs this node',
      'Warning SchedulerReplaced node-a: scheduler mh cannot be used',
    ]);
  });

  it('tells which server cannot listen in the words of kube-proxy', () => {
    events.serverFailed({ server: 'health', message: 'the health server cannot listen: EADDRINUSE' });
    events.serverFailed({ server: 'metrics', message: 'the metrics server cannot listen: EACCES' });
    expect(new Set(reported.map(({ action }) => action))).to.deep.equal(new Set(['StartKubeProxy']));
    expect(take()).to.deep.equal([
      'Warning FailedToStartProxierHealthcheck node-a: the health server cannot listen: EADDRINUSE',
      'Warning FailedToStartMetricServer node-a: the metrics server cannot listen: EACCES',
    ]);
  });

  it('R58: tells of a Service whose address belongs to another node, once, and again when it comes back', async () => {
    const node = new NodeUnderTest();
    const nodes = [nodeObject('node-a', { addresses: ['192.168.0.10'] })];
    const cart = serviceObject('shop/cart', { externalIPs: ['192.168.0.11'] });
    const both = [...nodes, nodeObject('node-b', { addresses: ['192.168.0.11'] }), cart];
    events.passed(await node.apply(both));
    expect(reported[0]).to.deep.include({
      regarding: { kind: 'Service', namespace: 'shop', name: 'cart', uid: 'uid of shop/cart' },
      sameOnEveryNode: true,
    });
    const told =
      'Warning FrontendNotServed cart: spec.externalIPs: 192.168.0.11 belongs to another node; it is served on that node only';
    expect(take()).to.deep.equal([told]);
    events.passed(await node.pass());
    expect(take()).to.deep.equal([]);
    events.passed(await node.apply([...nodes, cart]));
    events.passed(await node.apply(both));
    expect(take()).to.deep.equal([told]);
  });

  it('tells of Services that claim the same frontend', async () => {
    const node = new NodeUnderTest();
    const clusterIPs = ['172.20.1.1'];
    const objects = [
      nodeObject('node-a'),
      serviceObject('shop/a', { clusterIPs }),
      serviceObject('shop/b', { clusterIPs }),
    ];
    events.passed(await node.apply(objects));
    expect(take()).to.deep.equal([
      'Warning FrontendNotServed b: TCP 172.20.1.1:80 is also claimed by shop/a:http/TCP, which is served',
    ]);
  });

  it('tells of what the kernel does not take of a Service, and of quarantine', async () => {
    const report = await new NodeUnderTest().apply([nodeObject('node-a')]);
    const refused = { kind: 'address', address: '10.0.0.255' };
    const refusals = [{ service: 'shop/cart', refused, message: 'Invalid argument' }] as unknown as readonly Refusal[];
    events.passed({ ...report, refusals });
    events.passed({ ...report, refusals });
    const changes = [
      { kind: 'quarantined', service: 'shop/cart', sinceMs: 0, failures: 3 },
      { kind: 'released', service: 'shop/cart', sinceMs: 0, failures: 3 },
      undefined,
    ];
    const queue = events.queue({ done: () => changes.shift() } as unknown as ServiceQueue);
    for (let n = 0; n < 3; n += 1) queue.done('shop/cart', 'failed');
    expect(take()).to.deep.equal([
      'Warning RefusedByKernel cart: node node-a left out address 10.0.0.255: Invalid argument',
      'Warning Quarantined cart: node node-a failed 3 times in a row; it is tried on its own delays from now on',
      'Normal QuarantineEnded cart: node node-a programs it again',
    ]);
  });

  it('stores Events in the API, tells of a failure once, and disturbs nobody by it', async () => {
    const api = await startApiServer({ scheme: 'http' });
    const folder = mkdtempSync(join(tmpdir(), 'pass-events-'));
    writeFileSync(join(folder, 'kubeconfig'), api.kubeconfig());
    const clock = new SteppedClock();
    const opened = openTransport({ kubeconfig: join(folder, 'kubeconfig'), master: '', userAgent: '', clock });
    if (!opened.ok) throw new Error(opened.error.message);
    const transport = opened.value;
    const said: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const log = {
      info: (_: object, message: string) => {
        said.push(message);
        resolve();
      },
      warn: (_: object, message: string) => said.push(message),
    };
    const parts = { transport, clock, nodeName: 'node-a', log, serviceUid: () => 'u-1' };
    const { events: stored, stop } = eventsInApi(parts);
    api.fault({ effect: { kind: 'refuse', status: 403 }, times: 2 });
    for (const port of [1, 2, 3]) stored.healthPortFailed({ service: 'shop/cart', port }, 'EADDRINUSE');
    await promise;
    const stores = api.list('Event').map(({ message, involvedObject }) => [message, involvedObject]);
    stop();
    transport.close();
    await api.stop();
    rmSync(folder, { recursive: true });
    expect(said).to.deep.equal(['Events cannot be stored; it goes on without', 'Events are stored again']);
    expect(stores).to.deep.equal([
      [
        'node node-a failed to start healthcheck shop/cart on port 3: EADDRINUSE',
        { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'cart', uid: 'u-1' },
      ],
    ]);
  });

  it('tells of a health check port that cannot be opened', () => {
    events.healthPortFailed({ service: 'shop/cart', port: 32000 }, 'EADDRINUSE');
    expect(take()).to.deep.equal([
      'Warning FailedToStartServiceHealthcheck cart: node node-a failed to start healthcheck shop/cart on port 32000: EADDRINUSE',
    ]);
  });
});
