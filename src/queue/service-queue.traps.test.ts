import { expect } from 'chai';
import { service, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import type { EndpointSlice, SliceEndpoint } from '../model/endpoint-slice.ts';
import type { Service } from '../model/service.ts';
import { describeServiceChange } from '../tracking/describe-change.ts';
import { Tracker } from '../tracking/tracker.ts';
import { classify } from './classify.ts';
import { ServiceQueue } from './service-queue.ts';
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from './settings.ts';

describe('queue/service-queue.traps', () => {
  describe('the same number of ready endpoints at another address', () => {
    it('is a change, and urgent, since traffic to the old address is lost', () => {
      const { changes, queue } = makeWorld([cart(many(10))]);
      const recreated = cart([...many(9), endpoint(99)]);
      expect(changes(cart(many(10)), recreated)).to.deep.equal(['address-update high']);
      expect(queue.nextDueMs()).to.equal(100);
    });

    it('is critical when it is the only endpoint', () => {
      const { changes } = makeWorld([cart(many(1))]);
      expect(changes(cart(many(1)), cart([endpoint(99)]))).to.deep.equal(['address-update critical']);
    });
  });

  describe('a large window for harmless changes', () => {
    const patient = {
      batchWindowMs: 60_000,
      batchSize: 1_000,
      levelDelaysMs: { critical: 0, high: 100, normal: 60_000, low: 60_000 },
    };

    it('does not hold back the last endpoint that goes', () => {
      const { changes, queue, at } = makeWorld([cart(many(1))], patient);
      const hinted = cart([endpoint(1, { zoneHints: ['a'] })]);
      expect(changes(cart(many(1)), hinted)).to.deep.equal(['minor low']);
      expect(queue.nextDueMs()).to.equal(60_000);
      at(5);
      expect(changes(hinted, cart([endpoint(1, NOT_READY)]))).to.deep.equal(['ready-to-not-ready critical']);
      expect(queue.nextDueMs()).to.equal(5);
    });

    it('does not hold back one endpoint of many that fails', () => {
      const { changes, queue, at } = makeWorld([cart(many(100))], patient);
      const hinted = cart([endpoint(1, { zoneHints: ['a'] }), ...many(100).slice(1)]);
      changes(cart(many(100)), hinted);
      at(5);
      expect(changes(hinted, cart([endpoint(1, NOT_READY), ...many(100).slice(1)]))).to.deep.equal([
        'ready-to-not-ready high',
      ]);
      expect(queue.nextDueMs()).to.equal(105);
    });

    it('does not let a later harmless change hold back a failure before it', () => {
      const { changes, queue, at } = makeWorld([cart(many(100))], patient);
      const failed = cart([endpoint(1, NOT_READY), ...many(100).slice(1)]);
      changes(cart(many(100)), failed);
      at(50);
      changes(failed, cart([endpoint(1, { ...NOT_READY, zoneHints: ['a'] }), ...many(100).slice(1)]));
      expect(queue.nextDueMs()).to.equal(100);
    });
  });

  describe('a deletion that only a new list tells of', () => {
    it('is one of the last object that was known', () => {
      const { changes, queue } = makeWorld([cart(many(2))]);
      expect(changes(cart(many(2)), undefined)).to.deep.equal(['ready-to-not-ready critical']);
      expect(queue.nextDueMs()).to.equal(0);
    });

    it('counts from what is tracked, be the object that comes with it an older one', () => {
      const { changes } = makeWorld([cart(many(2)), cart([...many(2), endpoint(3)])]);
      expect(changes(cart(many(1)), undefined)).to.deep.equal(['ready-to-not-ready critical']);
    });

    it('leaves the slices that the list has, and counts what is left', () => {
      const second = slice({ name: 'shop/cart-2', endpoints: many(20).slice(10) });
      const { changes } = makeWorld([cart(many(10)), second]);
      expect(changes(second, undefined)).to.deep.equal(['ready-to-not-ready high']);
    });

    it('is nothing when it is told twice, or of what was never known', () => {
      const { changes } = makeWorld([cart(many(2))]);
      changes(cart(many(2)), undefined);
      expect(changes(cart(many(2)), undefined)).to.deep.equal([]);
      expect(changes(slice({ service: 'shop/other', endpoints: many(1) }), undefined)).to.deep.equal([]);
    });
  });

  describe('no endpoints at all', () => {
    it('are all ready', () => {
      const { serviceChange } = makeWorld();
      expect(serviceChange(undefined, service())).to.include({
        ...{ kind: 'service-added', level: 'critical', readyBefore: 1, readyAfter: 1, magnitude: 0 },
      });
    });

    it('are no change when a slice without any comes or goes', () => {
      const { changes } = makeWorld();
      expect(changes(undefined, cart([]))).to.deep.equal([]);
      expect(changes(cart([]), undefined)).to.deep.equal([]);
    });

    it('are a change in both directions', () => {
      const { changes } = makeWorld([cart([])]);
      expect(changes(cart([]), cart([endpoint(1, NOT_READY)]))).to.deep.equal(['address-update critical']);
      expect(changes(cart([endpoint(1, NOT_READY)]), cart(many(1)))).to.deep.equal(['not-ready-to-ready critical']);
      expect(changes(cart(many(1)), cart([]))).to.deep.equal(['ready-to-not-ready critical']);
    });
  });

  describe('limits of all and of one in conflict', () => {
    const oneASecond = { passesPerSecond: 1, passBurst: 1 };

    it('has a Service that failed wait its own time, though a token is there sooner', () => {
      const { queue, serviceChange, at } = makeWorld([], oneASecond);
      serviceChange(service(), service({ affinitySeconds: 60 }));
      const waits = [900, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000].map(() => {
        const dueMs = queue.nextDueMs();
        at(dueMs);
        for (const taken of queue.drain()) queue.done(taken.service, 'failed');
        return queue.nextDueMs() - dueMs;
      });
      expect(waits).to.deep.equal([900, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
    });

    it('has a Service that may come now wait for the token', () => {
      const { queue, changes, at } = makeWorld([], oneASecond);
      changes(undefined, cart(many(1)));
      for (const taken of queue.drain()) queue.done(taken.service, 'applied');
      at(300);
      changes(cart(many(1)), cart([]));
      expect(queue.nextDueMs()).to.equal(1_000);
    });
  });
});

const NOT_READY = { ready: false, serving: false } as const;

function endpoint(last: number, given: Partial<SliceEndpoint> = {}): SliceEndpoint {
  return sliceEndpoint(`10.180.0.${last}`, given);
}

function many(count: number): readonly SliceEndpoint[] {
  return Array.from({ length: count }, (_, index) => endpoint(index + 1));
}

function cart(endpoints: readonly SliceEndpoint[]): EndpointSlice {
  return slice({ endpoints });
}

/** A tracker that knows some slices, and a queue that was told of nothing yet. */
function makeWorld(slices: readonly EndpointSlice[] = [], given: Partial<QueueSettings> = {}) {
  let nowMs = 0;
  const settings = { ...DEFAULT_QUEUE_SETTINGS, ...given };
  const queue = new ServiceQueue({ clock: { nowMs: () => nowMs }, random: () => 0, settings });
  const tracker = new Tracker('IPv4', 'node-a');
  for (const each of slices) tracker.recordSlice(undefined, each);
  const take = (facts: Parameters<typeof classify>[0]) => {
    const change = classify(facts, settings.thresholds);
    queue.add(change);
    return change;
  };
  const changes = (previous: EndpointSlice | undefined, current: EndpointSlice | undefined) =>
    tracker.recordSliceChange(previous, current).map((facts) => {
      const { kind, level } = take(facts);
      return `${kind} ${level}`;
    });
  const serviceChange = (previous: Service | undefined, current: Service | undefined) => {
    const facts = describeServiceChange(previous, current, ['IPv4'], tracker.latestEndpoints(service().name));
    return facts && take(facts);
  };
  const at = (ms: number) => {
    nowMs = ms;
  };
  return { queue, tracker, changes, serviceChange, at };
}
