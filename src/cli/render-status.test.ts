import { expect } from 'chai';
import { renderStatus } from './render-status.ts';
import { STATUS } from './status-fixture.ts';

describe('cli/render-status', () => {
  it('is short where all is well', () => {
    expect(
      renderStatus(STATUS),
    ).to.equal(`ipvs-proxier 1.2.3 on node-a: up 1d 1h, mode ipvs, behaviour documented, scheduler rr
health: healthy
services: 2, with 7 virtual servers, 14 real servers; 0 draining
queue: 0 waiting
passes: 0 full, 0 normal, 0 failed
  none yet: the first lists are not complete, or the own Node is missing
drift: none noticed; repaired: nothing
quarantine: none
API server:
  services: followed, 3 events, last heard 2026-01-02T00:00:00Z
`);
  });

  it('tells of everything that is not', () => {
    const pass = {
      kind: 'normal',
      reasons: ['high'],
      level: 'high',
      services: 1,
      ms: 12,
      steps: {},
      errors: [],
    } as const;
    const text = renderStatus({
      ...STATUS,
      uptimeSeconds: 61,
      health: { ...STATUS.health, healthy: false, live: false, nodeEligible: false },
      totals: { ...STATUS.totals, draining: 7 },
      queue: { waiting: 3, byLevel: { high: 2, low: 1 } },
      passes: {
        ...STATUS.passes,
        latest: { ...pass, at: '3' },
        notable: [
          { ...pass, at: '3' },
          { ...pass, at: '2', steps: { 'add-real-server': 2, 'bind-address': 1 } },
          { at: '1', kind: 'full', reasons: ['start'], services: 0, ms: 9, steps: {}, errors: ['reading: no'] },
        ],
      },
      drift: { noticed: [{ at: '2', things: ['IPv4 set A', 'IPv4 set B'] }], repaired: { ipvs: 0, ipset: 2 } },
      quarantine: [
        { service: 'shop/cart', since: '1', failures: 3, why: 'real server … : no', nextTryInSeconds: 0 },
        { service: 'shop/web', since: '1', failures: 4 },
      ],
      draining: Array.from({ length: 7 }, (_, index) => ({
        virtualServer: 'TCP 10.96.0.10:80',
        realServer: `10.180.0.${index}:80`,
        seconds: 60 + index,
      })),
      apiServer: [
        { resource: 'services', lists: 1, events: 0, trouble: 'connect ECONNREFUSED' },
        { resource: 'nodes', lists: 0, events: 0 },
      ],
    });
    expect(text).to.equal(`ipvs-proxier 1.2.3 on node-a: up 1m 1s, mode ipvs, behaviour documented, scheduler rr
health: not healthy, passes are late; the own Node is not known, or about to go
services: 2, with 7 virtual servers, 14 real servers; 7 draining
queue: 3 waiting (high 2, low 1)
passes: 0 full, 0 normal, 0 failed
  latest 3 normal (high), level high, 1 services, 12 ms, nothing to do
  2 normal (high), level high, 1 services, 12 ms, add-real-server 2, bind-address 1
  1 full (start), 0 services, 9 ms, nothing to do, failed: reading: no
drift: noticed; repaired: ipset 2
  2 IPv4 set A, IPv4 set B
quarantine:
  shop/cart since 1, 3 failures, next try in 0s: real server … : no
  shop/web since 1, 4 failures, in a pass now
draining:
  10.180.0.0:80 of TCP 10.96.0.10:80 for 1m
  10.180.0.1:80 of TCP 10.96.0.10:80 for 1m 1s
  10.180.0.2:80 of TCP 10.96.0.10:80 for 1m 2s
  10.180.0.3:80 of TCP 10.96.0.10:80 for 1m 3s
  10.180.0.4:80 of TCP 10.96.0.10:80 for 1m 4s
  and 2 more
API server:
  services: failing: connect ECONNREFUSED, 0 events
  nodes: not listed yet, 0 events
`);
  });

  it('tells of one Service what the kernel has of it', () => {
    const server = { port: 'http', kind: 'cluster', scheduler: 'rr', persistenceSeconds: 0, programmed: true };
    const text = renderStatus({
      ...STATUS,
      quarantine: [{ service: 'shop/cart', since: '1', failures: 3, nextTryInSeconds: 3_600 }],
      services: [
        {
          name: 'shop/cart',
          virtualServers: [
            {
              ...server,
              address: 'TCP 10.96.0.10:80',
              realServers: [
                { address: '10.180.0.1:8080', state: 'active', weight: 1, active: 2, inactive: 3 },
                {
                  address: '10.180.0.2:8080',
                  state: 'draining',
                  weight: 0,
                  active: 1,
                  inactive: 0,
                  drainingSeconds: 5,
                },
                { address: '10.180.0.3:8080', state: 'missing' },
              ],
            },
            {
              ...server,
              port: '',
              address: 'UDP 10.96.0.10:53',
              persistenceSeconds: 600,
              programmed: false,
              realServers: [],
            },
          ],
        },
      ],
    });
    expect(text).to.equal(`shop/cart
  in quarantine since 1, 3 failures, next try in 1h
  TCP 10.96.0.10:80 (cluster http) rr
    10.180.0.1:8080 active, weight 1, active 2, inactive 3
    10.180.0.2:8080 draining for 5s, weight 0, active 1, inactive 0
    10.180.0.3:8080 missing
  UDP 10.96.0.10:53 (cluster) rr, persistent 600 s, not in the kernel
    no real servers
`);
  });
});
