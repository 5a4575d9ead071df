import { expect } from 'chai';
import type { PassReport } from '../../src/sync/proxier.ts';
import { endpointJson, nodeObject, type ObjectJson, serviceObject, sliceObject } from './cluster-objects.ts';
import { kernelText } from './kernel-text.ts';
import { NodeUnderTest } from './node-under-test.ts';
import { refuseLines } from './refusing-tools.ts';

const OTHERS = 5;

interface Variant {
  readonly affinity?: boolean;
  readonly protocol?: 'TCP' | 'UDP';
  readonly pods?: readonly number[];
}

/** Services `shop/s0`, … at 172.21.0.0, …, each with its own Pods, 10.181.N.N and 10.182.N.N. */
function services(count: number, { affinity = false, protocol = 'TCP', pods = [1] }: Variant = {}): ObjectJson[] {
  return Array.from({ length: count }, (_, index) => [
    serviceObject(`shop/s${index}`, {
      clusterIPs: [`172.21.${place(index)}`],
      ports: [{ name: 'http', protocol, port: 80 }],
      affinitySeconds: affinity ? 60 : undefined,
    }),
    sliceObject(`shop/s${index}-1`, {
      service: `s${index}`,
      ports: [{ name: 'http', protocol, port: 8080 }],
      endpoints: pods.map((pod) => endpointJson(`10.18${pod}.${place(index)}`, 'node-b')),
    }),
  ]).flat();
}

function place(index: number): string {
  return `${index >> 8}.${index & 255}`;
}

/** Is it about one of the first so many Services? */
function isOf(line: string, count: number): boolean {
  const [, high = '', low = ''] = /(?:172\.21|10\.18[12])\.(\d+)\.(\d+)\b/.exec(line) ?? [];
  return high !== '' && Number(high) * 256 + Number(low) < count;
}

interface Refused {
  readonly what: string;
  readonly line: RegExp;
  readonly old: (count: number) => ObjectJson[];
  readonly now: (count: number) => ObjectJson[];
  /** Of nobody, as the Services have gone. */
  readonly isLeft?: boolean;
}

const CASES: readonly Refused[] = [
  { what: 'ipset: new entries', line: /^add KUBE-CLUSTER-IP /, old: () => [], now: services },
  { what: 'ipset: entries that guard', line: /^add KUBE-IPVS-IPS /, old: () => [], now: services },
  { what: 'ipset: deletions', line: /^del KUBE-CLUSTER-IP /, old: services, now: () => [], isLeft: true },
  { what: 'ipvsadm -A', line: /^-A /, old: () => [], now: services },
  { what: 'ipvsadm -a', line: /^-a /, old: () => [], now: services },
  { what: 'ipvsadm -E', line: /^-E /, old: services, now: (count) => services(count, { affinity: true }) },
  { what: 'ipvsadm -e', line: /^-e /, old: services, now: (count) => services(count, { pods: [2] }) },
  {
    what: 'ipvsadm -d',
    line: /^-d /,
    old: (count) => services(count, { protocol: 'UDP' }),
    now: (count) => services(count, { protocol: 'UDP', pods: [2] }),
  },
  { what: 'ipvsadm -D', line: /^-D /, old: services, now: () => [], isLeft: true },
  { what: 'ip address replace', line: /^address replace /, old: () => [], now: services },
  { what: 'ip address delete', line: /^address delete /, old: services, now: () => [], isLeft: true },
];

/** One attempt for each sort that is refused, one to find them, and the last one; each of up to five scripts. */
const MOST_SCRIPTS = 12;

describe('test/kernel/refusals', () => {
  for (const { what, line, old, now, isLeft = false } of CASES) {
    for (const count of [1, 6, 50, 500]) {
      it(`${what}: ${count} refused cost a few scripts, are named, keep nobody else back, and are mended in a later pass`, async () => {
        const node = new NodeUnderTest({ families: ['IPv4'] });
        await node.apply(old(count + OTHERS));
        node.takeScripts();
        const end = refuseLines(node.kernel, (each) => line.test(each) && isOf(each, count));
        node.record(now(count + OTHERS));
        const report = await node.tryPass('normal', () => true);
        expect(report.errors).to.deep.equal([]);
        expect(node.takeScripts().length).to.be.at.most(MOST_SCRIPTS);
        expect(namesIn(report)).to.deep.equal(isLeft ? [] : names(count));
        expect(report.families.flatMap(({ leftovers }) => leftovers)).to.have.lengthOf(isLeft ? count : 0);
        await node.pass();
        const undisturbed = new NodeUnderTest({ families: ['IPv4'] });
        await undisturbed.apply(old(count + OTHERS));
        await undisturbed.apply(now(count + OTHERS));
        expect(othersIn(node, count)).to.deep.equal(othersIn(undisturbed, count));
        end();
        const mended = await node.pass('full');
        expect(mended.refusals).to.deep.equal([]);
        expect(kernelText(node.kernel)).to.equal(kernelText(undisturbed.kernel));
      }).timeout(60_000);
    }
  }

  it('serves no node port whose entry is refused, as nobody would know after a restart whose it is', async () => {
    const cart = serviceObject('shop/cart', { type: 'NodePort', ports: [{ name: 'http', port: 80, nodePort: 30080 }] });
    const node = new NodeUnderTest({ families: ['IPv4'] });
    await node.apply([nodeObject('node-a', { addresses: ['192.168.0.10'] })]);
    const before = kernelText(node.kernel);
    const end = refuseLines(node.kernel, (line) => line === 'add KUBE-NODE-PORT-TCP 30080');
    node.record([nodeObject('node-a', { addresses: ['192.168.0.10'] }), cart]);
    expect(namesIn(await node.tryPass('normal'))).to.deep.equal(['shop/cart']);
    expect(node.ipvs()).to.deep.equal(['-A -t 172.20.1.1:80 -s rr']);
    end();
    node.restart();
    await node.apply([nodeObject('node-a', { addresses: ['192.168.0.10'] })]);
    expect(kernelText(node.kernel)).to.equal(before);
  });
});

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `shop/s${index}`).sort();
}

function namesIn({ refusals }: PassReport): readonly string[] {
  return [...new Set(refusals.map(({ service }) => service))].sort();
}

/** The lines of the state that are not about the first so many Services. */
function othersIn({ kernel }: NodeUnderTest, count: number): readonly string[] {
  return kernelText(kernel)
    .split('\n')
    .filter((each) => !isOf(each, count));
}
