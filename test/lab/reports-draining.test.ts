import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HEAD, OWN } from '../../src/config/config-fixture.ts';
import { readBoundAddresses, readVirtualServers } from './kernel-state.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { clusterAddress, type Offer, SERVICE_PORT } from './offers.ts';
import { countByServer, type Target, type TrafficProtocol } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const [B1, B2] = ['10.180.2.11:8080', '10.180.2.12:8080'];

const DNS: Offer = { name: 'dns', number: 101, type: 'ClusterIP', pods: ['b1'] };
const LONG: Offer = { name: 'long', number: 102, type: 'ClusterIP', pods: ['b1', 'b2'] };
const BUSY: Offer = { name: 'busy', number: 103, type: 'ClusterIP', pods: ['b1'] };
const DOOMED: Offer = { name: 'doomed', number: 104, type: 'ClusterIP', pods: ['b1'] };
const SHORT: Offer = { name: 'short', number: 105, type: 'ClusterIP', pods: ['b1'] };

const CONFIGURATION = `mode: ipvs
clusterCIDR: 10.180.0.0/16,fd00:180::/32
conntrack: {maxPerCore: 0}
ipvs: {minSyncPeriod: 100ms, tcpTimeout: 2h}
${OWN}draining: {deletedServices: finish}
`;

describe('test/lab/reports-draining', () => {
  const lone = useLoneNode();

  before('a daemon with all Services', async () => {
    const { api, write, start, said } = lone();
    write(DNS, LONG, BUSY, DOOMED, SHORT);
    const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-draining-'));
    const [kubeconfig, config] = [join(folder, 'kubeconfig'), join(folder, 'config.yaml')];
    writeFileSync(kubeconfig, api.kubeconfig());
    writeFileSync(config, `${HEAD}clientConnection: {kubeconfig: ${kubeconfig}}\n${CONFIGURATION}`);
    await said(start(['--config', config]), 'node programmed');
    await seen((lines) => [DNS, LONG, BUSY, DOOMED, SHORT].every((offer) => has(lines, offer, B1, 1)));
  });

  /** Resolves with the virtual servers when they are as wanted. */
  function seen(isDone: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    const limits = { timeoutMs: 90_000, everyMs: 300 };
    return waitFor('virtual servers', () => readVirtualServers(lone().lab, NODE), isDone, limits);
  }

  function has(lines: readonly string[], offer: Offer, real: string, weight: number, flag = '-t'): boolean {
    return lines.includes(`-a ${flag} ${clusterAddress(offer, 'IPv4')}:${SERVICE_PORT} -r ${real} -m -w ${weight}`);
  }

  function at(offer: Offer, protocol: TrafficProtocol, more: Partial<Target> = {}): Target {
    return { from: 'a2', protocol, address: clusterAddress(offer, 'IPv4'), port: SERVICE_PORT, ...more };
  }

  /** A counter of the kernel in a namespace, such as `Udp InDatagrams`. */
  async function counter(namespace: string, file: 'snmp' | 'netstat', name: string): Promise<number> {
    const text = await lone().lab.output(namespace, 'cat', [`/proc/net/${file}`]);
    const [group, field = ''] = name.split(' ');
    const [names = [], values = []] = text
      .split('\n')
      .filter((line) => line.startsWith(`${group}: `))
      .map((line) => line.split(' '));
    return Number(values[names.indexOf(field)]);
  }

  it('R08: no packet of a UDP sender with a fixed port reaches the old endpoint once that was removed', async () => {
    const { traffic, write } = lone();
    const sender = await traffic.open(at(DNS, 'udp', { sourcePort: 40_008 }));
    expect(sender.first).to.match(/^b1 /);
    write({ ...DNS, pods: ['b2'] });
    await seen((lines) => has(lines, DNS, B2, 1, '-u') && !lines.join().includes(`-u 10.96.0.101:80 -r ${B1}`));
    const answers: string[] = [];
    while (!answers.at(-1)?.startsWith('b2 ')) answers.push(await sender.again(500));
    const before = await counter('b1', 'snmp', 'Udp InDatagrams');
    for (let packet = 0; packet < 20; packet += 1) expect(await sender.again(500)).to.match(/^b2 /);
    expect(await counter('b1', 'snmp', 'Udp InDatagrams')).to.equal(before);
    expect(answers.filter((answer) => answer.startsWith('b1 '))).to.have.lengthOf.at.most(1);
    await sender.close();
  });

  it('R09: an open connection goes on, ten new ones go to the endpoint that stays, and the old one leaves with its last', async () => {
    const { traffic, write } = lone();
    const two = await Promise.all([traffic.open(at(LONG, 'tcp')), traffic.open(at(LONG, 'tcp'))]);
    const held = two.find(({ first }) => first.startsWith('b1 '));
    expect(two.map(({ first }) => first.split(' ')[0]).sort()).to.deep.equal(['b1', 'b2']);
    write({ ...LONG, pods: ['b2'] });
    await seen((lines) => has(lines, LONG, B1, 0));
    const fresh = await traffic.ask({ ...at(LONG, 'tcp'), times: 10 });
    expect([...countByServer(fresh)]).to.deep.equal([['b2', 10]]);
    expect(await held?.again()).to.equal(held?.first);
    expect(has(await readVirtualServers(lone().lab, NODE), LONG, B1, 0)).to.equal(true);
    for (const each of two) await each.close('reset');
    await seen((lines) => !lines.join().includes(`-t 10.96.0.102:80 -r ${B1}`));
  });

  it('R11: a client that uses one local port over and over reaches the new endpoint within ten attempts', async () => {
    const { traffic, write } = lone();
    const target = at(BUSY, 'http', { sourcePort: 40_011, patienceMs: 900 });
    expect([...countByServer(await traffic.ask(target))]).to.deep.equal([['b1', 1]]);
    write({ ...BUSY, pods: ['b2'] });
    await seen((lines) => has(lines, BUSY, B2, 1));
    const seenServers: string[] = [];
    for (let attempt = 0; attempt < 10 && !seenServers.includes('b2'); attempt += 1) {
      const told = await traffic.ask(target);
      seenServers.push(...countByServer(told).keys(), ...told.troubles.keys());
    }
    expect(seenServers.at(-1), seenServers.join()).to.equal('b2');
    expect([...countByServer(await traffic.ask({ ...target, times: 5 }))]).to.deep.equal([['b2', 5]]);
  });

  it('R15: ten connections in a row from one local port are made without a first packet sent twice', async () => {
    const { traffic } = lone();
    const target = at(SHORT, 'http', { sourcePort: 40_015, patienceMs: 900 });
    const before = await counter('a2', 'netstat', 'TcpExt TCPSynRetrans');
    const told = await traffic.ask({ ...target, times: 10 });
    expect([[...countByServer(told)], [...told.troubles]]).to.deep.equal([[['b1', 10]], []]);
    expect(await counter('a2', 'netstat', 'TcpExt TCPSynRetrans')).to.equal(before);
  });

  it('R13: a connection to a deleted Service that may finish goes on, new ones are refused, and address and virtual server go with it', async () => {
    const { lab, traffic, remove } = lone();
    const held = await traffic.open(at(DOOMED, 'tcp'));
    expect(held.first).to.match(/^b1 /);
    remove(DOOMED);
    await seen((lines) => has(lines, DOOMED, B1, 0));
    expect(await held.again()).to.equal(held.first);
    expect([...(await traffic.ask(at(DOOMED, 'tcp'))).troubles]).to.deep.equal([['refused', 1]]);
    await held.close('reset');
    await seen((lines) => !lines.join().includes('10.96.0.104:80'));
    const gone = (bound: readonly string[] | undefined) => !(bound ?? []).join().includes('10.96.0.104');
    await waitFor('the address is gone', () => readBoundAddresses(lab, NODE), gone);
  });

  it('R20: timeouts and sysctls are as configured again after others have flushed IPVS and reset them', async () => {
    const { lab } = lone();
    const found = async () => [
      (await lab.output(NODE, 'ipvsadm', ['-L', '--timeout'])).trim(),
      (await lab.output(NODE, 'sysctl', ['-n', 'net.ipv4.vs.conntrack'])).trim(),
    ];
    const configured = await found();
    expect(configured[0]).to.match(/^Timeout \(tcp tcpfin udp\): 7200 \d+ \d+$/);
    const reset = ['ipvsadm -C', 'ipvsadm --set 900 120 300', 'sysctl -q -w net.ipv4.vs.conntrack=0'].join('; ');
    await lab.output(NODE, 'sh', ['-c', reset]);
    await waitFor('what was configured', found, (now) => now.join() === configured.join(), { timeoutMs: 60_000 });
    await seen((lines) => has(lines, SHORT, B1, 1));
  });
});
