import type { StatusAnswer } from '../observe/status.ts';

/** What a daemon answers at which nothing is wrong. */
export const STATUS: StatusAnswer = {
  version: '1.2.3',
  node: 'node-a',
  mode: 'ipvs',
  behaviour: 'documented',
  scheduler: 'rr',
  startedAt: '2026-01-01T00:00:00Z',
  uptimeSeconds: 90_061,
  health: { healthy: true, live: true, nodeEligible: true, families: {} },
  totals: { services: 2, servicePorts: 3, virtualServers: 7, realServers: 14, draining: 0 },
  queue: { waiting: 0, byLevel: {} },
  passes: { full: 0, normal: 0, failed: 0, notable: [] },
  drift: { noticed: [], repaired: { ipvs: 0, ipset: 0 } },
  quarantine: [],
  draining: [],
  apiServer: [{ resource: 'services', lists: 1, events: 3, lastHeard: '2026-01-02T00:00:00Z' }],
};
