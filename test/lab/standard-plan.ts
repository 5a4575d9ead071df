import type { LabPlan } from './topology.ts';

/** Two nodes in two zones with two pods each, and one client that reaches the load balancer addresses through node-a. */
export const STANDARD_PLAN: LabPlan = {
  families: ['IPv4', 'IPv6'],
  nodes: [
    { name: 'node-a', number: 1, zone: 'zone-a', pods: [{ name: 'a1' }, { name: 'a2' }] },
    { name: 'node-b', number: 2, zone: 'zone-b', pods: [{ name: 'b1' }, { name: 'b2' }] },
  ],
  clients: [
    {
      name: 'client',
      routes: [
        { to: '203.0.113.0/24', via: 'node-a' },
        { to: 'fd00:203::/64', via: 'node-a' },
      ],
    },
  ],
};

/** Every pod of the shared lab answers here, under its own name. */
export const POD_PORT = 8080;
