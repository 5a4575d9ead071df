import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { type MachineSketch, machine } from './files-fixture.ts';
import { readBothBackEnds } from './read-both-back-ends.ts';

describe('apply/read-both-back-ends', () => {
  const RULES = '*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -j ACCEPT\nCOMMIT\n';
  const parsed = succeed(new Map([['filter', new Map([['INPUT', ['-j ACCEPT']]])]]));
  const none = succeed(new Map());

  async function read(backEnd: string, sketch: MachineSketch) {
    const host = machine(sketch);
    const tools = new Map([['iptables', { kind: 'version', text: `iptables v1.8.9 (${backEnd})` } as const]]);
    return { rules: await readBothBackEnds(host, tools), started: host.started };
  }

  it('starts nothing where the kernel has no tables', async () => {
    const { rules, started } = await read('nf_tables', { files: { '/proc/kallsyms': '' } });
    expect([rules.nft.IPv4, rules.legacy.IPv6, started]).to.deep.equal([none, none, []]);
  });

  it('reads its own by the usual name, and the other ones by theirs', async () => {
    const { rules, started } = await read('nf_tables', {
      files: { '/proc/net/ip_tables_names': 'filter\n', '/proc/net/ip6_tables_names': '' },
      refused: { '/sys/module/nf_tables': 'EISDIR' },
      tools: { 'iptables-save': '', 'ip6tables-save': '', 'iptables-legacy-save': RULES },
    });
    expect(started.toSorted()).to.deep.equal(['ip6tables-save', 'iptables-legacy-save', 'iptables-save']);
    expect([rules.nft.IPv4, rules.legacy.IPv4, rules.legacy.IPv6]).to.deep.equal([none, parsed, none]);
  });

  it('tells why it cannot', async () => {
    const { rules } = await read('legacy', {
      files: { '/proc/net/ip_tables_names': 'filter\n' },
      refused: { '/proc/net/ip6_tables_names': 'EACCES' },
    });
    const missing = "iptables-save is not installed or not on PATH; install Debian's package iptables";
    expect(rules.nft.IPv4.ok).to.equal(false);
    expect(rules.legacy).to.deep.equal({ IPv4: fail(missing), IPv6: fail('/proc/net/ip6_tables_names: EACCES') });
  });
});
