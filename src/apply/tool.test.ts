import { expect } from 'chai';
import { describeToolError, type FileError, type Tool, type ToolError } from './tool.ts';

describe('apply/tool', () => {
  const refused = (stderr: string, exitCode = 1): ToolError => ({
    kind: 'tool-refused',
    tool: 'ipset',
    exitCode,
    stderr,
    script: '',
  });
  const errors: readonly (readonly [string, ToolError | FileError, string])[] = [
    [
      'a missing tool',
      { kind: 'tool-missing', tool: 'ipvsadm' },
      "ipvsadm is not installed or not on PATH; install Debian's package ipvsadm",
    ],
    [
      'a tool that does not end',
      { kind: 'tool-timeout', tool: 'ip', afterMs: 30000 },
      'ip did not end within 30000 ms and was stopped',
    ],
    [
      'a refusal',
      refused('ipset v7.17: Error in line 3: Syntax error\n'),
      'ipset failed with status 1: ipset v7.17: Error in line 3: Syntax error',
    ],
    ['a refusal of three lines', refused('a\nb\n\nc\n', 255), 'ipset failed with status 255: a; b; c'],
    ['a refusal of many lines', refused('a\nb\nc\nd\ne\n'), 'ipset failed with status 1: a; b; c (and 2 more lines)'],
    ['a file', { kind: 'file-failed', path: '/proc/net/ip_vs', code: 'ENOENT' }, '/proc/net/ip_vs: ENOENT'],
  ];
  for (const [name, error, text] of errors) {
    it(`describes ${name} in one line`, () => expect(describeToolError(error)).to.equal(text));
  }

  const packages: Readonly<Record<Tool, string>> = {
    ipvsadm: 'ipvsadm',
    ipset: 'ipset',
    ip: 'iproute2',
    iptables: 'iptables',
    ip6tables: 'iptables',
    'iptables-save': 'iptables',
    'ip6tables-save': 'iptables',
    'iptables-legacy-save': 'iptables',
    'ip6tables-legacy-save': 'iptables',
    'iptables-nft-save': 'iptables',
    'ip6tables-nft-save': 'iptables',
    'iptables-restore': 'iptables',
    'ip6tables-restore': 'iptables',
    modprobe: 'kmod',
    conntrack: 'conntrack',
    nft: 'nftables',
  };
  for (const [tool, name] of Object.entries(packages)) {
    it(`names the package that brings ${tool}`, () => {
      expect(describeToolError({ kind: 'tool-missing', tool: tool as Tool })).to.match(
        new RegExp(`^${tool} .* ${name}$`),
      );
    });
  }
});
