import { expect } from 'chai';
import type { WatchReading } from '../observe/watch-metrics-page.ts';
import { type ObservedSources, observedStatus } from './observed-status.ts';
import { PassHistory } from './pass-history.ts';

describe('sync/observed-status', () => {
  const reading = {
    ...{ lists: 1, watches: 1, restarts: 0, events: 7, bookmarks: 0, relists: {}, failures: {}, missedDeletions: 0 },
    lastHeardMs: 4_000,
  };
  const SOURCES: ObservedSources = {
    families: ['IPv4'],
    scheduler: 'rr',
    health: {
      isNodeEligible: true,
      read: () => ({
        healthy: true,
        families: new Map([['IPv4', { healthy: true, lastUpdatedMs: 1_000 }]]),
        lastUpdatedMs: 1_000,
      }),
    },
    history: new PassHistory(),
    passes: { full: 1, normal: 2, failed: 0 },
    repaired: { ipvs: 0 },
    waiting: [],
    quarantined: [],
    resources: new Map(),
    troubles: new Map(),
    nowMs: 5_000,
    wallMsOf: (ms) => ms,
  };

  it('tells health, passes and an empty queue', () => {
    expect(observedStatus(SOURCES)).to.deep.equal({
      scheduler: 'rr',
      health: {
        healthy: true,
        live: true,
        nodeEligible: true,
        families: { IPv4: { healthy: true, lastUpdated: '1970-01-01T00:00:01Z' } },
      },
      queue: { waiting: 0, byLevel: {} },
      passes: { full: 1, normal: 2, failed: 0, notable: [] },
      drift: { noticed: [], repaired: { ipvs: 0 } },
      quarantine: [],
      apiServer: [],
    });
  });

  it('tells when a Service in quarantine is tried next, unless it is in a pass', () => {
    const waits = { service: 'shop/cart', level: 'high', dueMs: 65_000, events: 1, failures: 3 } as const;
    const quarantined = ['shop/cart', 'shop/web'].map((service) => ({ service, sinceMs: 2_000, failures: 3 }));
    const { queue, quarantine } = observedStatus({ ...SOURCES, waiting: [waits], quarantined });
    expect(queue).to.deep.equal({ waiting: 1, byLevel: { high: 1 } });
    const since = '1970-01-01T00:00:02Z';
    expect(quarantine).to.deep.equal([
      { service: 'shop/cart', since, failures: 3, nextTryInSeconds: 60 },
      { service: 'shop/web', since, failures: 3 },
    ]);
  });

  it('tells how each resource is followed', () => {
    const { apiServer } = observedStatus({
      ...SOURCES,
      resources: new Map<string, WatchReading>([
        ['services', reading],
        ['nodes', { ...reading, lists: 0, events: 0, lastHeardMs: undefined }],
      ]),
      troubles: new Map([['nodes', 'connect ECONNREFUSED']]),
    });
    expect(apiServer).to.deep.equal([
      { resource: 'services', lists: 1, events: 7, lastHeard: '1970-01-01T00:00:04Z' },
      { resource: 'nodes', lists: 0, events: 0, trouble: 'connect ECONNREFUSED' },
    ]);
  });
});
