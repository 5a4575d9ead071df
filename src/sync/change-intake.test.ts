import { expect } from 'chai';
import { portSpec, service, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { FAMILIES } from '../net/family.ts';
import { QueueMetrics } from '../queue/queue-metrics.ts';
import { ServiceQueue } from '../queue/service-queue.ts';
import { DEFAULT_QUEUE_SETTINGS } from '../queue/settings.ts';
import { ChangeIntake } from './change-intake.ts';
import { ClusterRecord } from './cluster-record.ts';

describe('sync/change-intake', () => {
  let queue: ServiceQueue;
  let intake: ChangeIntake;
  let metrics: QueueMetrics;
  const cart = service({ addresses: ['172.20.1.1', 'fd00:20::1'] });
  const one = slice({ endpoints: [sliceEndpoint('10.180.0.1')] });

  beforeEach(() => {
    metrics = new QueueMetrics();
    queue = new ServiceQueue({ clock: new SteppedClock(), random: () => 0, settings: DEFAULT_QUEUE_SETTINGS });
    const record = new ClusterRecord(FAMILIES, 'node-a');
    intake = new ChangeIntake(record, queue, DEFAULT_QUEUE_SETTINGS.thresholds, metrics);
  });

  const waiting = () => queue.waiting().map(({ service: name, level, events }) => [name, level, events]);
  const dropped = () => metrics.read(0).dropped;

  it('queues a Service of both families once for its one event', () => {
    intake.service(undefined, cart);
    expect(waiting()).to.deep.equal([['shop/cart', 'critical', 1]]);
  });

  it('queues a Service for its endpoints, once it is known', () => {
    intake.slice(undefined, one);
    expect([waiting(), dropped()['not-ours']]).to.deep.equal([[], 1]);
    intake.service(undefined, cart);
    queue.drain();
    intake.slice(one, undefined);
    expect(waiting()).to.deep.equal([['shop/cart', 'critical', 1]]);
  });

  it('drops what the kernel does not depend on, and what is served by nobody here', () => {
    intake.service(undefined, cart);
    intake.slice(undefined, one);
    intake.service(cart, { ...cart });
    intake.slice(one, { ...one });
    intake.service(undefined, service({ name: 'shop/headless', clusterIP: 'None', addresses: [] }));
    expect(dropped()).to.deep.equal({ 'same-version': 0, immaterial: 2, 'not-ours': 1 });
    expect(waiting()).to.deep.equal([['shop/cart', 'critical', 2]]);
  });

  it('drops what a resync tells once more, as known in that version', () => {
    intake.service(undefined, cart);
    intake.slice(undefined, one);
    expect([intake.service(cart, cart), intake.slice(one, one)]).to.deep.equal(['same-version', 'same-version']);
    expect(dropped()).to.deep.equal({ 'same-version': 2, immaterial: 0, 'not-ours': 0 });
    expect(waiting()).to.deep.equal([['shop/cart', 'critical', 2]]);
  });

  it('queues both Services when a slice moves from one to the other', () => {
    const other = service({ name: 'shop/other', addresses: ['172.20.1.2'], ports: [portSpec()] });
    intake.service(undefined, cart);
    intake.service(undefined, other);
    intake.slice(undefined, one);
    for (const { service: name } of queue.drain()) queue.done(name, 'applied');
    intake.slice(one, slice({ ...one, service: 'shop/other' }));
    expect(waiting().map(([name]) => name)).to.have.members(['shop/cart', 'shop/other']);
  });
});
