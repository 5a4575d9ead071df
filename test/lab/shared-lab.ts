import { buildLab, type Lab } from './lab.ts';
import type { LabPlan } from './topology.ts';
import { startTraffic, type Traffic } from './traffic.ts';

export interface SharedLab {
  readonly lab: Lab;
  readonly traffic: Traffic;
}

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

// One lab for all suites of a run: building it anew for each would take longer than most of them.
let shared: Promise<SharedLab> | undefined;

/**
 * Call in a `describe`; inside its hooks and tests the returned function gives the lab. Built by the first suite that needs
 * it, removed after the last. Each suite finds empty nodes and all pods serving POD_PORT, and leaves the nodes to be emptied;
 * it ends its own daemons and its other servers.
 */
export function useLab(): () => SharedLab {
  let current: SharedLab | undefined;
  before('the lab', async () => {
    shared ??= build();
    current = await shared;
    const { lab, traffic } = current;
    await Promise.all(lab.pods.map(({ name, namespace }) => traffic.serve(namespace, name, POD_PORT)));
  });
  after('empty nodes', async () => {
    for (const { name } of current?.lab.nodes ?? []) await current?.lab.resetNode(name);
  });
  return () => {
    if (current === undefined) throw new Error('the lab is there in hooks and tests only');
    return current;
  };
}

after('remove the lab', async () => {
  const built = await shared?.catch(() => undefined);
  await built?.traffic.end();
  await built?.lab.destroy();
});

async function build(): Promise<SharedLab> {
  return { lab: await buildLab(STANDARD_PLAN), traffic: startTraffic() };
}
