import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { HEAD, OWN } from '../../src/config/config-fixture.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { readVirtualServers } from './kernel-state.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { slice } from './objects.ts';
import { clusterAddress, type Offer, SERVICE_PORT, sketchOf } from './offers.ts';
import { POD_PORT } from './standard-plan.ts';
import type { Connection } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const B1 = '10.180.2.11:8080';

const LOST: Offer = { name: 'lost', number: 111, type: 'ClusterIP', pods: ['b1', 'b2'] };
const BACK: Offer = { name: 'back', number: 112, type: 'ClusterIP', pods: ['b1', 'b2'] };

const CONFIGURATION = `mode: ipvs
clusterCIDR: 10.180.0.0/16,fd00:180::/32
conntrack: {maxPerCore: 0}
ipvs: {minSyncPeriod: 100ms}
${OWN}draining: {limit: 15s}
`;

describe('test/lab/reports-lost-nodes', () => {
  const lone = useLoneNode();

  before('a daemon with both Services', async () => {
    const { api, write, start, said } = lone();
    write(LOST, BACK);
    const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-lost-nodes-'));
    const [kubeconfig, config] = [join(folder, 'kubeconfig'), join(folder, 'config.yaml')];
    writeFileSync(kubeconfig, api.kubeconfig());
    writeFileSync(config, `${HEAD}clientConnection: {kubeconfig: ${kubeconfig}}\n${CONFIGURATION}`);
    await said(start(['--config', config]), 'node programmed');
    for (const offer of [LOST, BACK]) await untilWeight(offer, 1);
  });

  /** Resolves when b1 has that weight in the Service; `gone` when it is no real server of it. */
  async function untilWeight(offer: Offer, weight: number | 'gone'): Promise<void> {
    const real = `-a -t ${clusterAddress(offer, 'IPv4')}:${SERVICE_PORT} -r ${B1} `;
    const isSo = (lines: readonly string[]) => {
      const line = lines.find((each) => each.startsWith(real));
      return weight === 'gone' ? line === undefined : line === `${real}-m -w ${weight}`;
    };
    const read = () => readVirtualServers(lone().lab, NODE);
    await waitFor(`weight ${weight} of b1 in ${offer.name}`, read, isSo, { timeoutMs: 90_000, everyMs: 300 });
  }

  /** A connection that b1 answers; the first two go to one endpoint each. */
  async function connect(offer: Offer): Promise<Connection> {
    const target = { from: 'a2', protocol: 'tcp', address: clusterAddress(offer, 'IPv4'), port: SERVICE_PORT } as const;
    const two = [await lone().traffic.open(target), await lone().traffic.open(target)];
    const [held, other] = two[0]?.first.startsWith('b1 ') ? two : two.toReversed();
    await other?.close('reset');
    expect(held?.first).to.match(/^b1 /);
    return held as Connection;
  }

  it('R39: an open connection to an endpoint that is gone for good gets a reset once the bound for draining is over', async () => {
    const { lab, write } = lone();
    const held = await connect(LOST);
    const unreachable = ['INPUT', '-p', 'tcp', '--dport', String(POD_PORT), '-j', 'DROP'];
    await lab.output('b1', 'iptables', ['-A', ...unreachable]);
    try {
      write({ ...LOST, pods: ['b2'] });
      await untilWeight(LOST, 'gone');
      expect(await held.again(20_000)).to.be.oneOf(['reset', 'refused']);
    } finally {
      await lab.output('b1', 'iptables', ['-D', ...unreachable]);
    }
  });

  it('R41: an open connection survives an endpoint that is unready for a while', async () => {
    const { api, lab } = lone();
    const held = await connect(BACK);
    const pods = BACK.pods.map((name) => lab.pod(name));
    for (const isReady of [false, true]) {
      for (const family of FAMILIES) {
        const endpoints = pods.map((pod) => ({
          address: pod.addresses[family],
          nodeName: pod.node ?? '',
          ready: pod.name !== 'b1' || isReady,
        }));
        api.apply(slice(sketchOf(BACK), POD_PORT, endpoints, family));
      }
      await untilWeight(BACK, isReady ? 1 : 0);
      expect(await held.again()).to.equal(held.first);
    }
    await held.close('reset');
  });
});
