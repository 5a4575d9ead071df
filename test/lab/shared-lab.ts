import { buildLab, type Lab } from './lab.ts';
import { POD_PORT, STANDARD_PLAN } from './standard-plan.ts';
import { startTraffic, type Traffic } from './traffic.ts';

export interface SharedLab {
  readonly lab: Lab;
  readonly traffic: Traffic;
}

// One lab for all suites of a run: building it anew for each would take longer than most of them.
let shared: Promise<SharedLab> | undefined;

/**
 * Call in a `describe`; inside its hooks and tests the returned function gives the lab. Built by the first suite that needs
 * it, removed after the last. Each suite finds empty nodes and all pods serving POD_PORT, and leaves the nodes as they are;
 * it ends its own daemons and its other servers.
 */
export function useLab(): () => SharedLab {
  let current: SharedLab | undefined;
  before('the lab', async () => {
    shared ??= build();
    current = await shared;
    const { lab, traffic } = current;
    // Not after a suite: its daemons end after that hook, and a pass of theirs would fill the nodes again.
    for (const { name } of lab.nodes) await lab.resetNode(name);
    await Promise.all(lab.pods.map(({ name, namespace }) => traffic.serve(namespace, name, POD_PORT)));
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
