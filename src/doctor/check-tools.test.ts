import { expect } from 'chai';
import { checkTools } from './check-tools.ts';
import type { ToolAnswer } from './facts.ts';
import { HEALTHY, inShort, version } from './facts-fixture.ts';

describe('doctor/check-tools', () => {
  const missing: ToolAnswer = { kind: 'missing', package: 'any' };
  const cases: readonly (readonly [name: string, tool: string, answer: ToolAnswer, expected: readonly string[]])[] = [
    ['finds nothing where all are there', 'ip', version('ip utility, iproute2-6.1.0'), []],
    ...['ipvsadm', 'ipset', 'ip', 'iptables'].map(
      (tool) => [`cannot do without ${tool}`, tool, missing, ['error tool-missing']] as const,
    ),
    ['warns of stale flows without conntrack', 'conntrack', missing, ['warning tool-missing']],
    ['warns of a family without rules', 'ip6tables', missing, ['warning tool-missing']],
    ['refuses ipset 4', 'ipset', version('ipset v4.5'), ['error tool-too-old']],
    ['warns of an iptables without random ports', 'iptables', version('iptables v1.6.1'), ['warning tool-too-old']],
    ['takes the first iptables with them', 'iptables', version('iptables v1.6.2'), []],
    ['warns of the first ones with nft', 'iptables', version('iptables v1.8.2 (nf_tables)'), ['warning tool-too-old']],
    ['takes their legacy', 'iptables', version('iptables v1.8.2 (legacy)'), []],
    [
      'says so of a tool that cannot be asked',
      'ipvsadm',
      { kind: 'failed', why: 'no' },
      ['not checked: the version of ipvsadm'],
    ],
  ];
  for (const [name, tool, answer, expected] of cases) {
    it(name, () => {
      const tools = new Map([...HEALTHY.tools, [tool, answer]]);
      expect(inShort(checkTools({ tools, hasIpv6: true }))).to.deep.equal(expected);
    });
  }

  it('needs no ip6tables on a kernel without IPv6', () => {
    const tools = new Map([...HEALTHY.tools, ['ip6tables', missing] as const]);
    expect(inShort(checkTools({ tools, hasIpv6: false }))).to.deep.equal([]);
  });
});
