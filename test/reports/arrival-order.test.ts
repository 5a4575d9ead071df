import { expect } from 'chai';
import { pino } from 'pino';
import { clusterHandler } from '../../src/cluster-handler.ts';
import { watchCluster } from '../../src/kube/watch-cluster.ts';
import { OwnNode } from '../../src/own-node.ts';
import type { PassOutcome } from '../../src/sync/pass-loop.ts';
import { PassLoop } from '../../src/sync/pass-loop.ts';
import { type FakeCall, FakeTransport } from '../apiserver/fake-transport.ts';
import { proxierOn } from '../builders/proxier.ts';
import type { ObjectJson } from '../kernel/cluster-objects.ts';
import { type MemoryKernel, memoryKernel } from '../kernel/memory-kernel.ts';
import { LINKS, NodeUnderTest } from '../kernel/node-under-test.ts';
import { SteppedClock, settle } from '../stepped-clock.ts';
import { cart, NODE_PORT } from './cart.ts';

const RESOURCES = ['services', 'endpointslices', 'nodes'] as const;
type Resource = (typeof RESOURCES)[number];

const ORDERS: readonly (readonly Resource[])[] = RESOURCES.flatMap((first) => {
  const [second = first, third = first] = RESOURCES.filter((resource) => resource !== first);
  return [
    [first, second, third],
    [first, third, second],
  ];
});

describe('test/reports/arrival-order', () => {
  const objects = cart({ type: 'NodePort', ports: [NODE_PORT], externalIPs: ['198.51.100.7'] });
  const [own = {}, , service = {}, slice = {}] = objects;
  const lists: Readonly<Record<Resource, ObjectJson>> = { services: service, endpointslices: slice, nodes: own };

  /** What is in the kernel, as texts. */
  const contents = ({ ipvs, ipsets, addresses, tables }: MemoryKernel) => ({
    ipvs: ipvs.save().split('\n').sort(),
    sets: ipsets.save().split('\n').sort(),
    bound: addresses.addresses('kube-ipvs0').sort(),
    rules: [tables.IPv4.save(), tables.IPv6.save()],
  });

  let wanted: ReturnType<typeof contents>;

  before('the state that is right', async () => {
    const node = new NodeUnderTest();
    await node.apply([own, service, slice]);
    wanted = contents(node.kernel);
    expect(wanted.ipvs.filter(Boolean)).to.have.lengthOf(9);
  });

  for (const order of ORDERS) {
    for (const late of order) {
      it(`R135: first lists of ${order.join(', ')}, with ${late} after 20 s, come to the same state`, async () => {
        const clock = new SteppedClock();
        const kernel = memoryKernel(LINKS);
        const proxier = proxierOn(kernel);
        const transport = new FakeTransport();
        const log = pino({ enabled: false });
        const { record } = proxier;
        let ready = 0;
        const ownNode = new OwnNode({
          clock,
          nodeName: 'node-a',
          needsPodRanges: false,
          log,
          ready: () => {
            ready += 1;
          },
          gaveUp: (message) => expect.fail(message),
        });
        const watch = watchCluster({
          transport,
          nodeName: 'node-a',
          otherNodes: 'ignored',
          handler: clusterHandler({
            record,
            intake: {
              service: (...change) => void record.service(...change),
              slice: (...change) => void record.slice(...change),
            },
            runner: { request: () => {} },
            ownNode,
            log,
            nodeName: 'node-a',
          }),
          clock,
          random: () => 0,
        });
        watch.start();
        const answer = async (resource: Resource) => {
          await settle();
          await listCall(transport, resource)?.answer({
            metadata: { resourceVersion: '9' },
            items: [{ ...lists[resource], metadata: metaOf(lists[resource]) }],
          });
          await settle();
        };
        for (const resource of order) if (resource !== late) await answer(resource);
        await clock.advance(20_000);
        expect(ready, 'ready before everything is listed').to.equal(0);
        await answer(late);
        expect(ready).to.equal(1);
        expect((await proxier.pass('full', ['start'])).errors).to.deep.equal([]);
        expect(contents(kernel)).to.deep.equal(wanted);
        ownNode.stop();
        await watch.stop();
      });
    }
  }

  for (const tool of ['ipvsadm', 'ipset', 'ip', 'iptables-save'] as const) {
    it(`R135: a first pass whose first call of ${tool} fails is made again within 2 s, and comes to the same state`, async () => {
      const node = new NodeUnderTest();
      const { runTool } = node.kernel;
      let failed = 0;
      node.kernel.runTool = async (call) => {
        if (call.tool !== tool || failed > 0) return runTool(call);
        failed += 1;
        return { ok: false, error: { kind: 'tool-timeout', tool, afterMs: 30_000 } };
      };
      const loop = new PassLoop({
        proxier: { kindOf: (asked) => asked, pass: (kind) => node.passOnce(kind) },
        queue: { add: () => true, drain: () => [], done: () => undefined, isQuarantined: () => false },
        metrics: { ran: () => {} },
        log: { info: () => {}, debug: () => {}, warn: () => {} },
        nowMs: () => node.nowMs,
        fullIntervalMs: Number.POSITIVE_INFINITY,
      });
      node.record([own, service, slice]);
      const first: PassOutcome = await loop.run(new Set(['start']));
      expect(failed).to.equal(1);
      expect(first).to.deep.equal({ kind: 'retry', afterMs: 1000 });
      expect(await loop.run(new Set(['retry']))).to.deep.equal({ kind: 'done' });
      expect(contents(node.kernel)).to.deep.equal(wanted);
    });
  }
});

function listCall(transport: FakeTransport, resource: Resource): FakeCall | undefined {
  return transport.calls.findLast(({ request, query }) => request.path.endsWith(resource) && !('watch' in query));
}

/** As the API server completes it. */
function metaOf({ metadata }: ObjectJson): object {
  const given = metadata as { readonly name?: string };
  return { ...given, uid: `uid of ${given.name}`, resourceVersion: '5' };
}
