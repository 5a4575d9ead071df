import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { type ApiServer, startApiServer } from '../test/apiserver/server.ts';
import { proxierOn } from '../test/builders/proxier.ts';
import { memoryKernel } from '../test/kernel/memory-kernel.ts';
import { clusterHandler } from './cluster-handler.ts';
import { openTransport } from './kube/client.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import { type ClusterWatch, watchCluster } from './kube/watch-cluster.ts';
import { OwnNode } from './own-node.ts';
import { systemClock } from './queue/clock.ts';

describe('cluster-handler', () => {
  let api: ApiServer;
  let folder: string;
  let transport: ApiTransport;
  let watch: ClusterWatch;
  /** Reasons for passes, `started`, and messages of the log, in order. */
  let told: string[];
  let waiting: { readonly line: string; readonly resolve: () => void }[];

  function tell(line: string): void {
    told.push(line);
    for (const { resolve } of waiting.filter((waiter) => waiter.line === line)) resolve();
  }
  const heard = (line: string) =>
    new Promise<void>((resolve) => {
      if (told.includes(line)) resolve();
      else waiting.push({ line, resolve });
    });

  const node = (name: string, address: string, heartbeat = '') => ({
    kind: 'Node',
    metadata: { name },
    status: {
      addresses: [{ type: 'InternalIP', address }],
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat }],
    },
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-handler-'));
    api = await startApiServer();
    writeFileSync(join(folder, 'kubeconfig'), api.kubeconfig());
    told = [];
    waiting = [];
    const opened = openTransport({
      kubeconfig: join(folder, 'kubeconfig'),
      master: '',
      userAgent: 'test',
      clock: systemClock,
    });
    if (!opened.ok) throw new Error(opened.error.message);
    transport = opened.value;
  });
  afterEach(async () => {
    await watch.stop();
    transport.close();
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  function begin(otherNodes: 'watched' | 'ignored'): void {
    const log = pino({}, { write: (line: string) => tell(`log: ${JSON.parse(line).msg}`) });
    const { record } = proxierOn(memoryKernel({}));
    const intake = { service: () => tell('service'), slice: () => tell('slice') };
    const ownNode = new OwnNode({
      clock: systemClock,
      nodeName: 'node-a',
      needsPodRanges: false,
      log,
      ready: () => tell('started'),
      gaveUp: tell,
    });
    const handler = clusterHandler({ record, intake, runner: { request: tell }, ownNode, log, nodeName: 'node-a' });
    watch = watchCluster({ transport, nodeName: 'node-a', otherNodes, handler, clock: systemClock, random: () => 0 });
    watch.start();
  }

  it('asks for no pass and logs nothing for signs of life of other Nodes, and for one when their addresses change', async () => {
    api.apply(node('node-a', '192.168.0.10'));
    for (let n = 11; n < 60; n += 1) api.apply(node(`node-${n}`, `192.168.0.${n}`));
    begin('watched');
    await Promise.all([heard('started'), api.watches.until('nodes', 2)]);
    told = [];
    for (let n = 11; n < 60; n += 1) api.apply(node(`node-${n}`, `192.168.0.${n}`, '2030-01-01T00:00:00Z'));
    api.apply(node('node-60', '192.168.0.60'));
    await heard('other nodes');
    expect(told).to.deep.equal(['other nodes']);
    told = [];
    api.delete({ kind: 'Node', name: 'node-60' });
    await heard('other nodes');
    expect(told).to.deep.equal(['other nodes']);
  });

  it('does not ask for other Nodes where they do not matter', async () => {
    api.apply(node('node-a', '192.168.0.10'));
    api.apply(node('node-b', '192.168.0.11'));
    begin('ignored');
    await heard('started');
    expect(told).to.deep.equal(['node', 'started']);
    expect(api.requests.count('list', 'nodes')).to.equal(1);
  });

  it('starts passes once, and only when the other Nodes are known', async () => {
    api.apply(node('node-a', '192.168.0.10'));
    api.apply(node('node-b', '192.168.0.11'));
    begin('watched');
    await heard('started');
    expect(told.at(-1)).to.equal('started');
    expect(told.slice(0, -1)).to.have.members(['node', 'other nodes']);
  });
});
