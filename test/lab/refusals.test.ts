import { expect } from 'chai';
import type { ToolCall } from '../../src/apply/tool.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { outcomes } from './dial.ts';
import { readNodeState } from './kernel-state.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { netnsHost } from './netns-host.ts';
import { clusterAddress, nodePort, type Offer } from './offers.ts';
import { QuickNode, resetReady } from './quick-node.ts';
import { differences, linesOfState } from './state-lines.ts';

const REFUSED = 7;
const OFFERS: readonly Offer[] = Array.from({ length: REFUSED + 2 }, (_, index) => ({
  name: `s${index}`,
  number: 141 + index,
  type: 'ClusterIP',
  pods: ['b1'],
}));

const STUCK: Offer = { name: 'stuck', number: 150, type: 'NodePort', pods: ['b1'] };

/** What makes the real tools refuse a line of each sort. */
const SORTS = [
  { what: 'new entries', line: /^add KUBE-CLUSTER-IP /, wrong: ['KUBE-CLUSTER-IP', 'KUBE-NOWHERE'] },
  { what: 'new virtual servers', line: /^-A /, wrong: ['-s rr', '-s nobody'] },
  { what: 'new addresses', line: /^address replace /, wrong: ['kube-ipvs0', 'nowhere'] },
  { what: 'deletions of entries', line: /^del KUBE-CLUSTER-IP /, wrong: ['KUBE-CLUSTER-IP', 'KUBE-NOWHERE'] },
  { what: 'deletions of virtual servers', line: /^-D /, wrong: [':80', ':81'] },
  { what: 'deletions of addresses', line: /^address delete /, wrong: ['kube-ipvs0', 'nowhere'] },
] as const;

describe('test/lab/refusals', () => {
  const lone = useLoneNode();
  const families = ['IPv4'] as const;

  /** Do they belong to one of the Services that are to be refused something? */
  const isOfRefused = (line: string) =>
    OFFERS.slice(0, REFUSED).some((offer) => new RegExp(`\\b${clusterAddress(offer, 'IPv4')}\\b`).test(line));

  async function state(): Promise<readonly string[]> {
    return linesOfState(await readNodeState(lone().lab, NODE));
  }

  for (const { what, line, wrong } of SORTS) {
    const isDeletion = what.startsWith('deletions');
    it(`${what}: what the real tools refuse of many Services is named, and keeps nobody else back`, async () => {
      const { lab } = lone();
      const [old, now] = isDeletion ? [OFFERS, []] : [[], OFFERS];
      const inside = netnsHost(NODE);
      let isOn = false;
      const spoil = (each: string) =>
        isOn && line.test(each) && isOfRefused(each) ? each.replace(wrong[0], wrong[1]) : each;
      const runTool = (call: ToolCall) =>
        inside.runTool(
          call.input === undefined ? call : { ...call, input: call.input.split('\n').map(spoil).join('\n') },
        );
      await resetReady(lab, NODE);
      const node = new QuickNode(lab, NODE, { families, host: { ...inside, runTool } });
      await node.program(...old);
      isOn = true;
      const report = await node.program(...now);
      const named = new Set(report.refusals.map(({ service }) => service));
      const left = report.families.flatMap(({ leftovers }) => leftovers);
      expect([named.size, left.length > 0]).to.deep.equal(isDeletion ? [0, true] : [REFUSED, false]);
      const others = (await state()).filter((each) => !isOfRefused(each));
      isOn = false;
      const mended = await node.program(...now);
      expect([mended.refusals, mended.families.flatMap(({ leftovers }) => leftovers)]).to.deep.equal([[], []]);
      const undisturbed = await state();
      expect(
        differences(
          others,
          undisturbed.filter((each) => !isOfRefused(each)),
        ),
      ).to.deep.equal([]);
      expect(undisturbed.some(isOfRefused)).to.equal(!isDeletion);
    }).timeout(120_000);
  }

  it('clients of a node port that the kernel does not let go of are refused by rules, which stand as they were written', async () => {
    const { lab, traffic } = lone();
    const inside = netnsHost(NODE);
    let isOn = false;
    const spoil = (line: string) => (isOn && /^-[Dde] /.test(line) ? line.replace(`:${nodePort(STUCK)}`, ':9') : line);
    const runTool = (call: ToolCall) =>
      inside.runTool(
        call.input === undefined ? call : { ...call, input: call.input.split('\n').map(spoil).join('\n') },
      );
    await resetReady(lab, NODE);
    const node = new QuickNode(lab, NODE, { host: { ...inside, runTool } });
    const targets = FAMILIES.flatMap((family) =>
      (['tcp', 'udp', 'sctp'] as const).map((protocol) => {
        return { from: 'client', protocol, address: lab.node(NODE).addresses[family], port: nodePort(STUCK) };
      }),
    );
    const ask = async () => (await Promise.all(targets.map((target) => traffic.ask(target)))).flatMap(outcomes);
    await node.program(STUCK);
    expect(await ask()).to.deep.equal(targets.map(() => 'b1'));
    isOn = true;
    await node.program();
    const standing = await readNodeState(lab, NODE);
    const weights = standing.ipvs.flatMap((line) => / -r \S+ -m -w (\d+)$/.exec(line)?.[1] ?? []);
    expect(new Set(weights)).to.deep.equal(new Set(['1']));
    // SCTP takes no notice of the ICMP that refuses it.
    const refused = targets.map(({ protocol }) => (protocol === 'sctp' ? 'timeout' : 'refused'));
    expect(await ask()).to.deep.equal(refused);
    await node.program();
    const { iptables, ip6tables } = await readNodeState(lab, NODE);
    expect([iptables, ip6tables]).to.deep.equal([standing.iptables, standing.ip6tables]);
    isOn = false;
    await node.program();
    const left = await readNodeState(lab, NODE);
    expect(left.ipvs).to.deep.equal([]);
    expect(`${left.iptables}${left.ip6tables}`).to.not.include('ctorigdstport');
  });
});
