import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readNodeState } from './kernel-state.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { netnsHost } from './netns-host.ts';
import { clusterAddress, type Offer, SERVICE_PORT } from './offers.ts';
import { dyingHost, QuickNode, resetReady } from './quick-node.ts';
import { differences, linesOfState } from './state-lines.ts';
import { waitFor } from './wait-for.ts';

const WEB: Offer = { name: 'web', number: 81, type: 'NodePort', pods: ['b1'] };
const NARROW: Offer = { name: 'narrow', number: 84, type: 'ClusterIP', pods: ['a1', 'b1'] };
const OLD: Offer = { name: 'old', number: 82, type: 'NodePort', pods: ['a1'] };
const NEW: Offer = { name: 'new', number: 83, type: 'NodePort', pods: ['b2'], hasExternalIPs: true };

const BEFORE = [WEB, NARROW, OLD];
/** Services come and go, and so do endpoints. */
const AFTER = [{ ...WEB, pods: ['b1', 'b2'] }, { ...NARROW, pods: ['b1'] }, NEW];

describe('test/lab/crash', () => {
  const lone = useLoneNode();

  async function state(): Promise<readonly string[]> {
    return linesOfState(await readNodeState(lone().lab, NODE));
  }

  /** Without TCP servers that have to stop taking connections before a later pass removes them. */
  async function served(): Promise<readonly string[]> {
    return (await state()).filter((line) => !line.endsWith(' -w 0'));
  }

  /** A connection of a pod to the endpoint that stays. */
  async function openToSurvivor() {
    const target = { from: 'a2', protocol: 'tcp', address: clusterAddress(WEB, 'IPv4'), port: SERVICE_PORT } as const;
    const held = await lone().traffic.open(target);
    expect(held.first).to.match(/^b1 /);
    return held;
  }

  it('ends in the same state after a death between any two scripts of a first pass', async () => {
    const { lab } = lone();
    await new QuickNode(lab, NODE).program(...BEFORE);
    const undisturbed = await state();
    for (let cut = 0; ; cut++) {
      await resetReady(lab, NODE);
      const { host, dieAfter } = dyingHost(netnsHost(NODE));
      const death = dieAfter(cut);
      const end = await Promise.race([new QuickNode(lab, NODE, { host }).program(...BEFORE), death]);
      if (end !== 'dead') return expect(cut).to.be.at.least(8);
      await new QuickNode(lab, NODE).program(...BEFORE);
      expect(differences(await state(), undisturbed), `after ${cut} scripts`).to.deep.equal([]);
    }
  }).timeout(600_000);

  it('ends in the same state after a death between any two scripts of a later pass, and no connection breaks', async () => {
    const { lab } = lone();
    const families = ['IPv4'] as const;
    const start = (host = netnsHost(NODE)) => new QuickNode(lab, NODE, { host, families });
    await resetReady(lab, NODE);
    await start().program(...AFTER);
    const undisturbed = await served();
    for (let cut = 0; ; cut++) {
      const { host, dieAfter } = dyingHost(netnsHost(NODE));
      const dying = start(host);
      await dying.program(...BEFORE);
      const held = await openToSurvivor();
      const death = dieAfter(cut);
      const end = await Promise.race([dying.program(...AFTER), death]);
      expect(await held.again(), `after ${cut} scripts`).to.equal(held.first);
      if (end === 'dead') await start().program(...AFTER);
      expect(differences(await served(), undisturbed), `after ${cut} scripts`).to.deep.equal([]);
      expect(await held.again(), `after ${cut} scripts and a new start`).to.equal(held.first);
      await held.close();
      if (end !== 'dead') return expect(cut).to.be.at.least(4);
    }
  }).timeout(600_000);

  describe('of a daemon that is killed', () => {
    const tools = mkdtempSync(join(tmpdir(), 'ipvs-proxier-deadly-'));

    /** Has `ipvsadm -R` kill the process that starts it for the time given, counted from 1, in place of what it does. */
    async function arm(time: number): Promise<Readonly<Record<string, string>>> {
      const real = (await lone().lab.output(NODE, 'sh', ['-c', 'command -v ipvsadm'])).trim();
      const counter = join(tools, 'times');
      writeFileSync(counter, '0');
      const script = `#!/bin/sh
if [ "$1" = -R ]; then
  times=$(($(cat ${counter}) + 1))
  echo $times > ${counter}
  if [ $times = ${time} ]; then kill -9 $PPID; exit 1; fi
fi
exec ${real} "$@"
`;
      const wrapper = join(tools, 'ipvsadm');
      writeFileSync(wrapper, script);
      chmodSync(wrapper, 0o755);
      return { PATH: `${tools}:${process.env.PATH}` };
    }

    it('starts again where it was killed in its first pass, and where it was killed in a later one', async () => {
      const { lab, start, said, write, remove } = lone();
      write(...BEFORE);
      await resetReady(lab, NODE);
      await new QuickNode(lab, NODE).program(...BEFORE);
      const before = await state();
      await new QuickNode(lab, NODE).program(...AFTER);
      const after = await served();
      await resetReady(lab, NODE);
      // The scheduler is tried by two of them.
      const first = start([], await arm(3));
      expect(await first.exited).to.deep.equal({ signal: 'SIGKILL' });
      expect(differences(await state(), before)).to.not.deep.equal([]);
      const second = start([], await arm(Number.POSITIVE_INFINITY));
      await said(second, 'node programmed');
      expect(differences(await state(), before)).to.deep.equal([]);
      const held = await openToSurvivor();
      await arm(1);
      write(...AFTER);
      remove(OLD);
      expect(await second.exited).to.deep.equal({ signal: 'SIGKILL' });
      expect(await held.again()).to.equal(held.first);
      const third = start();
      await said(third, 'node programmed');
      expect(await held.again()).to.equal(held.first);
      const left = async () => differences(await served(), after);
      await waitFor('the state of an undisturbed daemon', left, (lines) => lines.length === 0, { timeoutMs: 240_000 });
      await held.close();
      await third.stop();
    }).timeout(300_000);
  });
});
