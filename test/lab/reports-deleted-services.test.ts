import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HEAD, OWN } from '../../src/config/config-fixture.ts';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import type { Daemon } from './daemon.ts';
import { type At, frontend, outcomes } from './dial.ts';
import { readBoundAddresses, readVirtualServers } from './kernel-state.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { addressesOf, clusterAddress, type Offer, SERVICE_PORT } from './offers.ts';
import type { Target, TrafficProtocol } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const outside = { type: 'LoadBalancer', pods: ['b1'], hasExternalIPs: true } as const;
const DOOMED: Offer = { name: 'doomed', number: 131, ...outside };
const BACK: Offer = { name: 'back', number: 132, ...outside };
const LEFT: Offer = { name: 'left', number: 133, ...outside };
const CHANGED: Offer = { name: 'changed', number: 135, ...outside };
const STAYS: Offer = { name: 'stays', number: 134, ...outside };
const ALL = [DOOMED, BACK, LEFT, CHANGED, STAYS];

const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-deleted-services-'));
const file = join(folder, 'config.yaml');
/** With a file, most flags do not count. */
const SETTINGS = `mode: ipvs
clientConnection: {kubeconfig: ${join(folder, 'kubeconfig')}}
clusterCIDR: 10.180.0.0/16,fd00:180::/32
conntrack: {maxPerCore: 0}
ipvs: {minSyncPeriod: 100ms}
logging: {format: text, verbosity: 2}
`;

/** Who dials what: Pods, the node itself and clients outside. */
const DIALLED: readonly (readonly [string, At])[] = [
  ['a2', 'cluster'],
  [NODE, 'cluster'],
  ['client', 'external'],
  ['a2', 'external'],
  [NODE, 'external'],
  ['client', 'node-a'],
  ['a2', 'node-a'],
  [NODE, 'node-a'],
];

describe('test/lab/reports-deleted-services', () => {
  const lone = useLoneNode();
  let daemon: Daemon;

  before('a daemon with all Services', async () => {
    writeFileSync(join(folder, 'kubeconfig'), lone().api.kubeconfig());
    configure('reset');
    lone().write(...ALL);
    await start();
    await seen((lines) => ALL.every((offer) => serves(lines, offer)));
  });

  function configure(ending: 'reset' | 'cut'): void {
    writeFileSync(`${file}.new`, `${HEAD}${SETTINGS}${OWN}draining: {deletedServices: ${ending}}\n`);
    renameSync(`${file}.new`, file);
  }

  async function start(): Promise<void> {
    daemon = lone().start(['--config', file]);
    await lone().said(daemon, 'node programmed');
  }

  /** Its virtual servers have gone. */
  async function gone(offer: Offer): Promise<void> {
    lone().remove(offer);
    for (const family of FAMILIES) await seen((lines) => !lines.join().includes(addressAndPort(offer, family)));
  }

  async function refuses(offer: Offer): Promise<void> {
    await gone(offer);
    expect(await boundOf(offer)).to.deep.equal(addressesOf(offer));
  }

  function seen(isDone: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    return waitFor('virtual servers', () => readVirtualServers(lone().lab, NODE), isDone, { timeoutMs: 90_000 });
  }

  function serves(lines: readonly string[], offer: Offer): boolean {
    return FAMILIES.every((family) => lines.some((line) => line.includes(` ${addressAndPort(offer, family)} -r `)));
  }

  function addressAndPort(offer: Offer, family: Family): string {
    const address = clusterAddress(offer, family);
    return family === 'IPv4' ? `${address}:${SERVICE_PORT}` : `[${address}]:${SERVICE_PORT}`;
  }

  function targetsOf(offer: Offer, protocol: TrafficProtocol): readonly Target[] {
    const { lab } = lone();
    return FAMILIES.flatMap((family) =>
      DIALLED.map(([from, at]) => ({ from, protocol, ...frontend(lab, offer, at, family) })),
    );
  }

  async function boundOf(offer: Offer): Promise<readonly string[]> {
    const bound = (await readBoundAddresses(lone().lab, NODE)) ?? [];
    return addressesOf(offer).filter((address) => bound.some((each) => each.split('/')[0] === address));
  }

  async function openAll(offer: Offer) {
    const { traffic } = lone();
    return Promise.all(
      targetsOf(offer, 'tcp').map(async (target) => ({ target, connection: await traffic.open(target) })),
    );
  }

  /** From each client whatever it dials. */
  async function newOnes(offer: Offer, protocol: TrafficProtocol): Promise<ReadonlySet<string>> {
    const replies = await Promise.all(targetsOf(offer, protocol).map((target) => lone().traffic.ask(target)));
    return new Set(replies.flatMap(outcomes));
  }

  it('R13: an open connection to a deleted Service is reset with its next packet, new ones are refused, others go on, and the address goes', async () => {
    const { traffic, remove } = lone();
    const [held, others] = [await openAll(DOOMED), await openAll(STAYS)];
    await traffic.serve(NODE, 'whatever listens', SERVICE_PORT);
    remove(DOOMED);
    await seen((lines) => !lines.join().includes(addressAndPort(DOOMED, 'IPv4')) && !serves(lines, DOOMED));
    await seen((lines) => !lines.join().includes(addressAndPort(DOOMED, 'IPv6')));
    const told = await Promise.all(
      held.map(async ({ target, connection }) => `${target.from} ${target.address} ${await connection.again(5000)}`),
    );
    expect(told).to.deep.equal(held.map(({ target }) => `${target.from} ${target.address} reset`));
    expect([...(await newOnes(DOOMED, 'tcp'))]).to.deep.equal(['refused']);
    expect([...(await newOnes(DOOMED, 'udp'))]).to.deep.equal(['refused']);
    expect(await boundOf(DOOMED)).to.deep.equal(addressesOf(DOOMED));
    for (const { connection } of others) expect(await connection.again()).to.equal(connection.first);
    await traffic.stopServing(NODE, 'whatever listens');
    const isGone = (bound: readonly string[]) => bound.length === 0;
    await waitFor('addresses gone', () => boundOf(DOOMED), isGone, { timeoutMs: 120_000, everyMs: 500 });
    for (const { connection } of [...held, ...others]) await connection.close('reset');
  });

  it('R13: a Service made anew on an address that still refuses serves at once', async () => {
    await refuses(BACK);
    lone().write(BACK);
    await seen((lines) => serves(lines, BACK));
    await waitFor(
      'answers',
      async () => [...(await newOnes(BACK, 'tcp'))],
      (told) => told.join() === 'b1',
    );
  });

  it('R13: another daemon takes away the addresses that the one before has left refusing', async () => {
    await refuses(LEFT);
    await daemon.kill();
    await start();
    expect(await boundOf(LEFT)).to.deep.equal([]);
    expect(await boundOf(STAYS)).to.deep.equal(addressesOf(STAYS));
  });

  it('R13: addresses that still refuse go with the first pass after a restart with `cut`, and none refuses any more', async () => {
    await refuses(CHANGED);
    await daemon.stop();
    configure('cut');
    await start();
    expect(await boundOf(CHANGED)).to.deep.equal([]);
    await gone(BACK);
    expect(await boundOf(BACK)).to.deep.equal([]);
    expect(await boundOf(STAYS)).to.deep.equal(addressesOf(STAYS));
  });
});
