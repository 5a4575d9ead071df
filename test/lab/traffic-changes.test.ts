import { expect } from 'chai';
import type { Daemon } from './daemon.ts';
import { readVirtualServers } from './kernel-state.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { type ServiceSketch, service, slice } from './objects.ts';
import { POD_PORT } from './standard-plan.ts';
import { addStrangers, expectStrangers } from './strangers.ts';
import type { Target } from './traffic.ts';
import { waitFor } from './wait-for.ts';

/** What traffic goes through a take-over from kube-proxy is in `takeover.test.ts`, through deaths between scripts in `crash.test.ts`. */
const WEB: ServiceSketch = {
  name: 'rolled',
  type: 'NodePort',
  clusterIPs: ['10.96.0.131'],
  ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30_131 }],
};
const FILES: ServiceSketch = {
  name: 'files',
  clusterIPs: ['10.96.0.132'],
  ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
};

type State = 'ready' | 'terminating';

describe('test/lab/traffic-changes', () => {
  const lone = useLoneNode();
  let daemon: Daemon;

  before('a daemon with both Services, and strangers', async () => {
    const { api, lab, start, said } = lone();
    for (const each of [WEB, FILES]) api.apply(service(each));
    publish(WEB, { a1: 'ready', b1: 'ready' });
    publish(FILES, { a1: 'ready', b1: 'ready' });
    daemon = start();
    await said(daemon, 'node programmed');
    await serves(WEB, 'a1', 'b1');
    await serves(FILES, 'a1', 'b1');
    await addStrangers(lab, NODE);
  });

  /** Writes the slice that a controller would keep for Pods in these states. */
  function publish(of: ServiceSketch, pods: Readonly<Record<string, State>>): void {
    const { api, lab } = lone();
    const sketches = Object.keys(pods).map((name) => {
      const { addresses, node = '' } = lab.pod(name);
      return { address: addresses.IPv4, nodeName: node };
    });
    const written = slice(of, POD_PORT, sketches);
    const states = Object.values(pods);
    api.apply({
      ...written,
      endpoints: written.endpoints.map((endpoint, index) => {
        const ready = states[index] === 'ready';
        return { ...endpoint, conditions: { ready, serving: true, terminating: !ready } };
      }),
    });
  }

  /** Resolves when these Pods, and no others, get the new connections to the cluster address; those that end may keep theirs for a while. */
  async function serves(of: ServiceSketch, ...pods: readonly string[]): Promise<void> {
    const wanted = pods.map((name) => realLine(of, name, 1)).sort();
    const isThere = (lines: readonly string[]) =>
      lines.filter((line) => line.startsWith(realStart(of)) && !line.endsWith(' -w 0')).join() === wanted.join();
    await waitFor(`${of.name} with ${pods.join()}`, () => readVirtualServers(lone().lab, NODE), isThere, PATIENCE);
  }

  function realLine(of: ServiceSketch, pod: string, weight: number): string {
    return `${realStart(of)}${lone().lab.pod(pod).addresses.IPv4}:${POD_PORT} -m -w ${weight}`;
  }

  /** A client that asks one request after another until told to stop; what went wrong, and how many were answered. */
  function asking(target: Target) {
    let isOver = false;
    const troubles: string[] = [];
    let answered = 0;
    const ended = (async () => {
      while (!isOver) {
        const told = await lone().traffic.ask({ ...target, times: 10, patienceMs: 10_000 });
        troubles.push(...told.troubles.keys());
        answered += told.answers.values().reduce((sum, count) => sum + count, 0);
      }
    })();
    const stop = async () => {
      isOver = true;
      await ended;
      return { troubles, answered };
    };
    return { stop };
  }

  /**
   * A client that keeps its connection, and asks on it. Where it hears that the server is about to end, as by `Connection: close`, it makes
   * a last request and dials anew.
   */
  function talking(target: Target, retiring: ReadonlySet<string>) {
    let isOver = false;
    let server = '';
    const troubles: string[] = [];
    let answered = 0;
    const ended = (async () => {
      while (!isOver) {
        const held = await lone().traffic.open({ ...target, patienceMs: 10_000 });
        server = held.first.split(' ')[0] ?? '';
        if (!/^[ab]\d /.test(held.first)) troubles.push(held.first);
        if (retiring.has(server)) troubles.push(`a new connection to ${server}`);
        for (let isLast = false; !isLast; answered += 1) {
          isLast = isOver || retiring.has(server);
          const answer = await held.again(10_000);
          if (answer !== held.first) troubles.push(answer);
        }
        await held.close();
        server = '';
      }
    })();
    const stop = async () => {
      isOver = true;
      await ended;
      return { troubles, answered };
    };
    return { stop, server: () => server };
  }

  it('fails no request while all Pods are replaced one by one, on new connections and on kept ones, and the daemon is killed meanwhile', async () => {
    const { lab, traffic, start, said } = lone();
    const cluster = { from: 'a2', protocol: 'tcp', address: '10.96.0.131', port: 80 } as const;
    const outside = { from: 'client', protocol: 'tcp', address: lab.node(NODE).addresses.IPv4, port: 30_131 } as const;
    const retiring = new Set<string>();
    const talkers = [cluster, outside, cluster, outside].map((target) => talking(target, retiring));
    const askers = [cluster, outside].map(asking);

    /** As a Deployment does it that keeps all its Pods available; `stays` is there before and after. */
    async function replace(old: string, fresh: string, stays: string, meanwhile: () => Promise<void>): Promise<void> {
      publish(WEB, { [old]: 'ready', [stays]: 'ready', [fresh]: 'ready' });
      await serves(WEB, old, stays, fresh);
      publish(WEB, { [old]: 'terminating', [stays]: 'ready', [fresh]: 'ready' });
      await meanwhile();
      await serves(WEB, stays, fresh);
      retiring.add(old);
      const talkedTo = () => talkers.map(({ server }) => server());
      await waitFor(`${old} has finished`, talkedTo, (servers) => !servers.includes(old));
      await traffic.stopServing(lab.pod(old).namespace, old);
      publish(WEB, { [stays]: 'ready', [fresh]: 'ready' });
    }

    await replace('a1', 'a2', 'b1', async () => {});
    await replace('b1', 'b2', 'a2', async () => {
      await daemon.kill();
      daemon = start();
      await said(daemon, 'started');
    });
    const seen = await Promise.all([...talkers, ...askers].map(({ stop }) => stop()));
    expect(seen.flatMap(({ troubles }) => troubles)).to.deep.equal([]);
    expect(Math.min(...seen.map(({ answered }) => answered))).to.be.above(100);
    await serves(WEB, 'a2', 'b2');
    await Promise.all(['a1', 'b1'].map((name) => traffic.serve(lab.pod(name).namespace, name, POD_PORT)));
    await expectStrangers(lab, NODE);
  }).timeout(240_000);

  it('lets a download end that outlives its endpoint, and passes in between', async () => {
    const { lab, traffic } = lone();
    const target = { from: 'a2', protocol: 'tcp', address: '10.96.0.132', port: 80 } as const;
    const downloads = [1, 2].map(() => traffic.download({ ...target, parts: 60, patienceMs: 60_000 }));
    const connections = async () => (await lab.output(NODE, 'ipvsadm', ['-Ln', '-t', '10.96.0.132:80'])).split('\n');
    const busy = (lines: readonly string[]) => lines.filter((line) => /Masq +1 +1 /.test(line)).length === 2;
    await waitFor('a download from each', connections, busy);
    publish(FILES, { a1: 'ready', b1: 'terminating' });
    await serves(FILES, 'a1');
    publish(FILES, { a1: 'ready' });
    for (const pods of [{ a2: 'ready' }, { a2: 'ready', b2: 'ready' }, { b2: 'ready' }] as const) {
      publish(WEB, pods);
      await serves(WEB, ...Object.keys(pods));
    }
    expect(await readVirtualServers(lab, NODE)).to.include(realLine(FILES, 'b1', 0));
    const ended = await Promise.all(downloads);
    expect(ended.map((text) => text.split(' ')[0]).sort()).to.deep.equal(['a1', 'b1']);
    await expectStrangers(lab, NODE);
  }).timeout(240_000);
});

const PATIENCE = { timeoutMs: 60_000, everyMs: 200 };

/** How a line of `ipvsadm -Sn` begins that is about a real server of the cluster address. */
function realStart({ clusterIPs = [] }: ServiceSketch): string {
  return `-a -t ${clusterIPs[0]}:80 -r `;
}
