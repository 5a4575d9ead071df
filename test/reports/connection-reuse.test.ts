import { expect } from 'chai';
import { OWN } from '../../src/config/config-fixture.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart } from './cart.ts';
import { startNode } from './start-node.ts';

const REUSE = 'net/ipv4/vs/conn_reuse_mode';

describe('test/reports/connection-reuse', () => {
  /** `undefined`: left as it is. */
  const chosen: readonly (readonly [release: string, value: string | undefined])[] = [
    ['3.10.0-1160.el7.x86_64', undefined],
    ['4.4.0-210-generic', '0'],
    ['4.14.336-257.562.amzn2.x86_64', '0'],
    ['4.18.0-513.5.1.el8_9.x86_64', '0'],
    ['4.19.0-26-amd64', '0'],
    ['5.4.0-1103-aws', '0'],
    ['5.8.18-100.fc31.x86_64', '0'],
    ['5.9.0', undefined],
    ['5.10.0-28-cloud-amd64', undefined],
    ['5.14.0-427.13.1.el9_4.x86_64', undefined],
    ['6.1.0-18-amd64', undefined],
    ['6.8.0-1008-gke', undefined],
  ];
  for (const [release, value] of chosen) {
    it(`R16: on ${release} the mode for reused ports is ${value ?? 'left as it is'}, and the log says so`, async () => {
      const { sysctls, told } = await startNode({ release, files: { [`/proc/sys/${REUSE}`]: '1' } });
      expect(sysctls()[REUSE]).to.equal(value ?? '1');
      const mode = value === undefined ? 'as it is' : 0;
      expect(told.get('mode for reused ports chosen')).to.deep.equal({ kernel: release, mode });
    });
  }

  for (const [release, mode] of [
    ['4.18.0-513.5.1.el8_9.x86_64', 1],
    ['6.1.0', 0],
  ] as const) {
    it(`R16: mode ${mode} is written on ${release} where the configuration asks for it`, async () => {
      const files = { [`/proc/sys/${REUSE}`]: `${1 - mode}` };
      const configuration = `${OWN}connReuseMode: ${mode}\n`;
      const { sysctls, told } = await startNode({ configuration, release, files });
      expect(sysctls()[REUSE]).to.equal(`${mode}`);
      expect(told.get('mode for reused ports chosen')).to.deep.equal({ kernel: release, mode });
    });
  }

  for (const [release, value] of [
    ['4.19.0', '0'],
    ['5.9.0', '1'],
    ['6.1.0', '1'],
  ] as const) {
    it(`R11: on ${release} a node that had mode 1 has ${value}`, async () => {
      const { sysctls } = await startNode({ release, files: { [`/proc/sys/${REUSE}`]: '1' } });
      expect(sysctls()[REUSE]).to.equal(value);
    });
  }

  it('R11: a client that keeps the old endpoint busy for ever holds it for 15 minutes at most', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}));
    node.kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.1.5:8080', 1);
    await node.apply(cart({}, []));
    node.wait(15 * 60_000);
    await node.pass();
    expect(node.ipvs()).to.deep.equal(['-A -t 172.20.1.1:80 -s rr']);
  });

  it('R17: a kernel without the mode for reused ports is made ready with one warning, and all else is set', async () => {
    const { warnings, sysctls } = await startNode({ release: '4.19.0', absent: [REUSE] });
    expect(warnings).to.deep.equal([`/proc/sys/${REUSE} could not be set to 0: ENOENT`]);
    expect(sysctls()).to.include({ 'net/ipv4/vs/conntrack': '1', 'net/ipv4/vs/expire_nodest_conn': '1' });
    const node = new NodeUnderTest();
    await node.apply(cart({}));
    expect(node.ipvs()).to.have.lengthOf(3);
  });

  for (const family of ['IPv4', 'IPv6'] as const) {
    it(`R18: ${family} packets without the mark are let be, and the mark is cleared before masquerading`, async () => {
      const node = new NodeUnderTest();
      await node.apply(cart({}));
      const rules = node.rules('nat', 'KUBE-POSTROUTING', family);
      const places = ['! --mark 0x4000/0x4000 -j RETURN', '-j MARK --set-xmark 0x4000/0x0', 'requiring SNAT'].map(
        (words) => rules.findIndex((rule) => rule.includes(words)),
      );
      expect(places, rules.join('\n')).to.not.include(-1);
      expect(places).to.deep.equal([...places].sort((a, b) => a - b));
      expect(rules.length - 1).to.equal(places[2]);
    });
  }
});
