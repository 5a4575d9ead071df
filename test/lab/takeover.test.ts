import { expect } from 'chai';
import { type NodeState, readBoundAddresses, readNodeState, readSets, readVirtualServers } from './kernel-state.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { addressesOf, clusterAddress, nodePort, type Offer, SERVICE_PORT } from './offers.ts';
import { QuickNode, resetReady } from './quick-node.ts';
import { differences, linesOfState } from './state-lines.ts';
import { addStrangers, expectStrangers } from './strangers.ts';
import type { Target } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const WEB: Offer = { name: 'web', number: 91, type: 'NodePort', pods: ['a1', 'b1'], hasExternalIPs: true };
const FAR: Offer = { name: 'far', number: 92, type: 'ClusterIP', pods: ['b1', 'b2'] };
/** Deleted while nobody was running. */
const OLD: Offer = { name: 'old', number: 93, type: 'NodePort', pods: ['a1'], hasExternalIPs: true };

/** What kube-proxy leaves when it is killed: things in no set, entries of nothing, real servers at weights they no longer have. */
const LEFTOVERS = [
  'set -e',
  'ipvsadm -A -t 203.0.113.207:80 -s rr',
  'ipvsadm -a -t 203.0.113.207:80 -r 10.180.1.11:8080 -m',
  'ip address add 203.0.113.207/32 dev kube-ipvs0',
  'ipvsadm -a -u 10.96.0.92:80 -r 10.180.2.99:8080 -m',
  'ipvsadm -e -u 10.96.0.92:80 -r 10.180.2.11:8080 -m -w 0',
  'ipset add KUBE-CLUSTER-IP 10.96.0.250,tcp:80',
  'ipset add KUBE-LOOP-BACK 10.180.1.99,tcp:80,10.180.1.99',
  'ipset add KUBE-NODE-PORT-TCP 32222',
  'ipset add KUBE-IPVS-IPS 10.96.0.250',
  'iptables -t nat -A KUBE-LOAD-BALANCER -j RETURN',
].join('\n');

describe('test/lab/takeover', () => {
  const lone = useLoneNode();
  const stays = [WEB, FAR];

  /** What a node without a past has. */
  let fresh: NodeState;

  before('what is wanted, what kube-proxy has left, and what others have made', async () => {
    const { lab, write } = lone();
    await resetReady(lab, NODE);
    await new QuickNode(lab, NODE).program(...stays);
    await addStrangers(lab, NODE);
    fresh = await readNodeState(lab, NODE);
    await resetReady(lab, NODE);
    await new QuickNode(lab, NODE, { settings: { behaviour: 'kube-proxy' } }).program(...stays, OLD);
    await lab.output(NODE, 'sh', ['-c', LEFTOVERS]);
    await addStrangers(lab, NODE);
    write(...stays);
  });

  /** Requests one after another, each on a new connection, until `ended` resolves; what went wrong. */
  async function keepAsking(target: Target, ended: Promise<unknown>): Promise<readonly string[]> {
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    const troubles: string[] = [];
    while (!isOver) {
      const told = await lone().traffic.ask({ ...target, times: 10, patienceMs: 10_000 });
      troubles.push(...told.troubles.keys());
    }
    return troubles;
  }

  /** Looks again and again; what was missing of what has to be there all the time. */
  async function keepLooking(ended: Promise<unknown>): Promise<readonly string[]> {
    const { lab } = lone();
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    const servers = fresh.ipvs.filter((line) => line.startsWith('-A'));
    const addresses = stays.flatMap(addressesOf);
    const missed = new Set<string>();
    while (!isOver) {
      const [lines, bound] = await Promise.all([readVirtualServers(lab, NODE), readBoundAddresses(lab, NODE)]);
      const there = (bound ?? []).map((address) => address.slice(0, address.indexOf('/')));
      for (const line of servers) if (!lines.includes(line)) missed.add(line);
      for (const address of addresses) if (!there.includes(address)) missed.add(address);
    }
    return [...missed];
  }

  it('adopts what kube-proxy left: nothing that is wanted goes for a moment, no request fails, and what is stale goes', async () => {
    const { lab, traffic, start } = lone();
    const inside = { from: 'a2', protocol: 'tcp', address: clusterAddress(FAR, 'IPv4'), port: SERVICE_PORT } as const;
    const outside = {
      from: 'client',
      protocol: 'tcp',
      address: lab.node(NODE).addresses.IPv4,
      port: nodePort(WEB),
    } as const;
    const held = await Promise.all([traffic.open(inside), traffic.open(outside)]);
    const monitor = lab.spawn(NODE, 'ip', ['monitor', 'address']);
    const over = Promise.withResolvers<void>();
    const seen = [inside, outside].map((target) => keepAsking(target, over.promise));
    const missed = keepLooking(over.promise);
    const daemon = start();
    await waitFor(
      'virtual servers as on a node without a past',
      async () => differences(await readVirtualServers(lab, NODE), fresh.ipvs),
      (lines) => lines.length === 0,
      { timeoutMs: 240_000, everyMs: 300 },
    );
    await lone().said(daemon, 'node programmed');
    await waitFor(
      'what refuses for a while gone',
      () => readBoundAddresses(lab, NODE),
      (bound) => !bound?.some((each) => addressesOf(OLD).includes(each.slice(0, each.indexOf('/')))),
      { timeoutMs: 120_000, everyMs: 300 },
    );
    over.resolve();
    expect(await missed).to.deep.equal([]);
    expect((await Promise.all(seen)).flat()).to.deep.equal([]);
    for (const each of held) {
      expect(await each.again()).to.equal(each.first);
      await each.close();
    }
    await monitor.stop();
    const deleted = [...monitor.log().matchAll(/^Deleted .* inet6? (\S+?)(?:\/\d+)? /gm)].map(([, address]) => address);
    expect(deleted.sort()).to.deep.equal([...addressesOf(OLD), '203.0.113.207'].sort());
    const entries = [...(await readSets(lab, NODE)).values()].flat().join('\n');
    expect(entries).to.not.match(/10\.96\.0\.250|10\.96\.0\.93|10\.180\.1\.99|203\.0\.113\.207|32222|30093/);
    await expectStrangers(lab, NODE);
    await daemon.stop();
  }).timeout(300_000);

  it('has the state that a node without a past has', async () => {
    const { lab } = lone();
    const taken = linesOfState(await readNodeState(lab, NODE));
    // Rules of others and jumps of ours came in another order.
    const unplaced = (lines: readonly string[]) =>
      lines.map((line) => line.replace(/ (INPUT|OUTPUT|PREROUTING) \d+ /, ' $1 '));
    expect(differences(unplaced(taken), unplaced(linesOfState(fresh)))).to.deep.equal([]);
  });

  it('R128: starts again over its own state without a write, and no request fails meanwhile', async () => {
    const { lab, traffic, start, said } = lone();
    const before = await readNodeState(lab, NODE);
    const target = { from: 'a2', protocol: 'tcp', address: clusterAddress(FAR, 'IPv4'), port: SERVICE_PORT } as const;
    const held = await traffic.open(target);
    const over = Promise.withResolvers<void>();
    const seen = keepAsking(target, over.promise);
    for (const end of ['stop', 'kill'] as const) {
      const daemon = start();
      await said(daemon, 'nothing to do');
      expect(daemon.log()).to.not.include('node programmed');
      await daemon[end]();
    }
    over.resolve();
    expect(await seen).to.deep.equal([]);
    expect(await held.again()).to.equal(held.first);
    await held.close();
    expect(await readNodeState(lab, NODE)).to.deep.equal(before);
    await expectStrangers(lab, NODE);
  }).timeout(300_000);
});

describe('test/lab/takeover of a daemon by another', () => {
  const lone = useLoneNode();

  it('waits for one that ends, and gives up on one that stays', async () => {
    const { start, said } = lone();
    const first = start();
    await said(first, 'started');
    const second = start();
    await said(second, 'waiting for the other one to end');
    expect(second.log()).to.match(
      new RegExp(`another ipvs-proxier programs this node: run, version \\S+, process ${first.pid}`),
    );
    expect(await second.exited).to.deep.equal({ exitCode: 1 });
    const third = start();
    await said(third, 'waiting for the other one to end');
    await first.kill();
    await said(third, 'started');
    expect(await third.stop(60_000)).to.deep.equal({ exitCode: 0 });
  }).timeout(300_000);
});
