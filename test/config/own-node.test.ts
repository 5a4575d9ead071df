import { expect } from 'chai';
import { pino } from 'pino';
import { clusterHandler } from '../../src/cluster-handler.ts';
import type { ApiError } from '../../src/kube/client-errors.ts';
import { type ClusterWatch, watchCluster } from '../../src/kube/watch-cluster.ts';
import { OwnNode } from '../../src/own-node.ts';
import type { Proxier } from '../../src/sync/proxier.ts';
import { type FakeCall, FakeTransport } from '../apiserver/fake-transport.ts';
import { settings } from '../builders/objects.ts';
import { proxierOn } from '../builders/proxier.ts';
import { type MemoryKernel, memoryKernel } from '../kernel/memory-kernel.ts';
import { LINKS } from '../kernel/node-under-test.ts';
import { SteppedClock, settle } from '../stepped-clock.ts';

const AWAY: ApiError = { kind: 'unreachable', url: 'https://api', message: 'connect ECONNREFUSED' };

interface NodeSketch {
  readonly podCIDRs?: readonly string[];
  readonly addresses?: readonly string[];
  readonly uid?: string;
}

describe('test/config/own-node', () => {
  let clock: SteppedClock;
  let kernel: MemoryKernel;
  let proxier: Proxier;
  let transport: FakeTransport;
  let watch: ClusterWatch;
  let own: OwnNode;
  /** Reasons for passes, `ready` and `gave up: …`, in order. */
  let told: string[];
  let version: number;

  function begin(needsPodRanges: 'by Pod ranges' | 'otherwise'): void {
    clock = new SteppedClock();
    kernel = memoryKernel(LINKS);
    transport = new FakeTransport();
    told = [];
    version = 100;
    const byRanges = needsPodRanges === 'by Pod ranges';
    proxier = proxierOn(kernel, {
      settings: settings({
        detectLocal: byRanges ? { kind: 'node-cidr' } : { kind: 'cluster-cidr', cidrs: [] },
        nodePortAddresses: ['primary'],
      }),
    });
    const log = pino({ enabled: false });
    own = new OwnNode({
      clock,
      nodeName: 'node-a',
      needsPodRanges: byRanges,
      log,
      ready: () => told.push('ready'),
      gaveUp: (message) => told.push(`gave up: ${message}`),
    });
    const { record } = proxier;
    const intake = {
      service: (...change: Parameters<typeof record.service>) => void record.service(...change),
      slice: (...change: Parameters<typeof record.slice>) => void record.slice(...change),
    };
    const runner = { request: (reason: string) => void told.push(reason) };
    watch = watchCluster({
      transport,
      nodeName: 'node-a',
      otherNodes: 'ignored',
      handler: clusterHandler({ record, intake, runner, ownNode: own, log, nodeName: 'node-a' }),
      clock,
      random: () => 0,
    });
    watch.start();
  }
  afterEach(async () => {
    own.stop();
    await watch.stop();
  });

  const node = ({ podCIDRs = [], addresses = ['192.168.0.10', 'fd00:168::10'], uid = 'one' }: NodeSketch = {}) => {
    version += 1;
    return {
      kind: 'Node',
      apiVersion: 'v1',
      metadata: { name: 'node-a', uid, resourceVersion: `${version}` },
      spec: { podCIDRs },
      status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
    };
  };
  const service = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'cart', namespace: 'shop', uid: 'cart', resourceVersion: '1' },
    spec: {
      type: 'NodePort',
      clusterIPs: ['172.20.1.1', 'fd00:20::1'],
      clusterIP: '172.20.1.1',
      ipFamilies: ['IPv4', 'IPv6'],
      ports: [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30080 }],
    },
  };

  /** Answers every list that is asked for, Nodes with these, and gives the watch of Nodes once it is there. */
  async function answerLists(nodes: readonly object[]): Promise<FakeCall> {
    const listed = new Set<FakeCall>();
    for (;;) {
      await settle();
      const nodeWatch = transport.calls.find(
        (call) => isOpen(call) && call.query.watch !== undefined && isOfNodes(call),
      );
      if (nodeWatch) return nodeWatch.open();
      for (const call of transport.calls.filter((each) => isOpen(each) && each.query.watch === undefined)) {
        if (listed.has(call)) continue;
        listed.add(call);
        const items = isOfNodes(call) ? nodes : call.request.path.endsWith('/services') ? [service] : [];
        await call.answer({ kind: 'List', metadata: { resourceVersion: `${version}` }, items });
      }
    }
  }
  const failed = new Set<FakeCall>();
  const isOpen = (call: FakeCall) => !call.aborted && !failed.has(call);
  const isOfNodes = ({ request }: FakeCall) => request.path.endsWith('/nodes');

  async function failAll(): Promise<void> {
    for (const call of transport.calls.filter(isOpen)) {
      failed.add(call);
      await call.fail(AWAY);
    }
  }

  /** The rule that marks traffic to cluster addresses which does not come from Pods of this node. */
  async function markedUnless(): Promise<string | undefined> {
    const { errors } = await proxier.pass('full', ['test']);
    expect(errors).to.deep.equal([]);
    return /! -s (\S+) .*KUBE-CLUSTER-IP/.exec(kernel.tables.IPv4.save())?.[1];
  }

  const nodePorts = async () => {
    await proxier.pass('full', ['test']);
    return [...kernel.ipvs.save().matchAll(/-A -t (\S+):30080/g)].map(([, address]) => address);
  };

  it('R118: a Node that is deleted and made again with another Pod range gives rules for the new range', async () => {
    begin('by Pod ranges');
    const events = await answerLists([node({ podCIDRs: ['10.180.0.0/24'] })]);
    expect(told).to.deep.equal(['node', 'ready']);
    expect(await markedUnless()).to.equal('10.180.0.0/24');
    events.event('DELETED', node({ podCIDRs: ['10.180.0.0/24'] }));
    await settle();
    expect(await markedUnless()).to.equal('10.180.0.0/24');
    events.event('ADDED', node({ podCIDRs: ['10.180.7.0/24'], uid: 'two' }));
    await settle();
    expect(told).to.deep.equal(['node', 'ready', 'node']);
    expect(await markedUnless()).to.equal('10.180.7.0/24');
  });

  it('R118: a change that falls between the first list and the watch gives rules for the new range too', async () => {
    begin('by Pod ranges');
    const first = node({ podCIDRs: ['10.180.0.0/24'] });
    const between = node({ podCIDRs: ['10.180.7.0/24'] });
    version = 101;
    const events = await answerLists([first]);
    expect(events.query.resourceVersion, 'the watch goes on where the list ends').to.equal('101');
    events.event('MODIFIED', between);
    await settle();
    expect(told).to.deep.equal(['node', 'ready', 'node']);
    expect(await markedUnless()).to.equal('10.180.7.0/24');
  });

  it('R118: another address of the Node is another primary one at once', async () => {
    begin('otherwise');
    const events = await answerLists([node()]);
    expect(await nodePorts()).to.have.members(['192.168.0.10', '[fd00:168::10]']);
    kernel.addresses.put('eth0', '192.168.0.11/24');
    events.event('MODIFIED', node({ addresses: ['192.168.0.11'] }));
    await settle();
    expect(told.at(-1)).to.equal('node');
    expect(await nodePorts()).to.deep.equal(['192.168.0.11']);
  });

  it('R120: the API server is away for 30 s, and then both families have the addresses of the Node that appears', async () => {
    begin('otherwise');
    for (let elapsedMs = 0; elapsedMs < 30_000; elapsedMs += 5_000) {
      await settle();
      await failAll();
      await clock.advance(5_000);
    }
    await settle();
    expect(told).to.deep.equal([]);
    const events = await answerLists([]);
    await clock.advance(10_000);
    expect(told).to.deep.equal([]);
    events.event('ADDED', node());
    await settle();
    expect(told).to.deep.equal(['node', 'ready']);
    expect(await nodePorts()).to.have.members(['192.168.0.10', '[fd00:168::10]']);
  });

  it('R120: a Node that never appears ends the program with its name and the cause, and nothing is programmed', async () => {
    begin('otherwise');
    await answerLists([]);
    await clock.advance(30_000);
    expect(told).to.have.lengthOf(1);
    expect(told[0]).to.match(/^gave up: Node "node-a" is not known to the API server after 30 s; /);
    expect(kernel.calls).to.deep.equal([]);
  });

  it('a Node that has no Pod range for 5 minutes ends the program where ranges tell local traffic', async () => {
    begin('by Pod ranges');
    await answerLists([node()]);
    await clock.advance(300_000);
    expect(told.at(-1)).to.match(/^gave up: Node "node-a" has no Pod range after 300 s/);
    expect(kernel.calls).to.deep.equal([]);
  });
});
