import type { Host } from '../../src/apply/host.ts';
import type { ToolCall } from '../../src/apply/tool.ts';
import { fail, succeed } from '../../src/model/result.ts';
import { MemoryAddresses } from './memory-addresses.ts';
import { MemoryConntrack } from './memory-conntrack.ts';
import { MemoryIpsets } from './memory-ipset.ts';
import { MemoryIpvs, type ToolAnswer } from './memory-ipvs.ts';
import { MemoryTables } from './memory-tables.ts';

/** Interface name → its addresses with lengths. */
export type Links = Readonly<Record<string, readonly string[]>>;

/** A machine whose kernel is in memory. It understands the scripts that the program writes and refuses everything else. */
export interface MemoryKernel extends Host {
  readonly ipvs: MemoryIpvs;
  readonly ipsets: MemoryIpsets;
  readonly addresses: MemoryAddresses;
  readonly conntrack: MemoryConntrack;
  readonly tables: { readonly IPv4: MemoryTables; readonly IPv6: MemoryTables };
  /** Files under `/proc/sys` and others, by path. */
  readonly files: Map<string, string>;
  /** Every tool that was started, in order. */
  readonly calls: ToolCall[];
  /** Virtual servers, as `-t 172.20.1.1:80`, that `/proc/net/ip_vs` does not show. */
  readonly skippedInProc: Set<string>;
  /** Tools that are not installed. */
  readonly missing: Set<string>;
}

export function memoryKernel(links: Links): MemoryKernel {
  const ipsets: MemoryIpsets = new MemoryIpsets((name) => tables.IPv4.names(name) || tables.IPv6.names(name));
  const hasSet = (name: string) => ipsets.has(name);
  const tables = { IPv4: new MemoryTables(hasSet), IPv6: new MemoryTables(hasSet) };
  const parts = {
    ipvs: new MemoryIpvs(),
    ipsets,
    addresses: new MemoryAddresses(links),
    conntrack: new MemoryConntrack(),
    tables,
    files: new Map<string, string>(),
    calls: [] as ToolCall[],
    skippedInProc: new Set<string>(),
    missing: new Set<string>(),
  };
  return {
    ...parts,
    runTool: async (call) => {
      parts.calls.push(call);
      const { tool, input = '' } = call;
      if (parts.missing.has(tool)) return fail({ kind: 'tool-missing', tool });
      const { stdout, stderr, exitCode } = answer(parts, call);
      if (exitCode === 0 && !(tool === 'ipvsadm' && stderr !== '')) return succeed({ stdout, stderr });
      return fail({ kind: 'tool-refused', tool, exitCode, stderr, script: input });
    },
    readText: async (path) => {
      const text = procFile(parts, path) ?? parts.files.get(path);
      return text === undefined ? fail({ kind: 'file-failed', path, code: 'ENOENT' }) : succeed(text);
    },
    writeText: async (path, text) => {
      parts.files.set(path, text);
      return succeed(undefined);
    },
  };
}

function procFile(
  { ipvs, addresses, skippedInProc }: Pick<MemoryKernel, 'ipvs' | 'addresses' | 'skippedInProc'>,
  path: string,
): string | undefined {
  if (path === '/proc/net/ip_vs') return ipvs.proc(skippedInProc);
  return path === '/proc/net/dev' ? addresses.devices() : undefined;
}

type Parts = Pick<MemoryKernel, 'ipvs' | 'ipsets' | 'addresses' | 'conntrack' | 'tables'>;

function answer(kernel: Parts, { tool, args, input = '' }: ToolCall): ToolAnswer & { readonly stdout: string } {
  const printed = (stdout: string) => ({ stdout, stderr: '', exitCode: 0 });
  const ran = (result: ToolAnswer) => ({ stdout: '', ...result });
  const { ipvs, ipsets, addresses, conntrack, tables } = kernel;
  const listed = ipvs.list(args[0] === '-Ln' && args.length > 1 ? args.slice(1).join(' ') : undefined);
  if (tool === 'ipvsadm' && args[0] === '-Ln') {
    return listed === undefined ? { stdout: '', stderr: 'No such service\n', exitCode: 255 } : printed(listed);
  }
  if (tool === 'conntrack' && args[0] === '-D') return conntrack.delete(args.slice(1));
  if (tool === 'ipvsadm' && args[0] === '--set') {
    ipvs.setTimeouts(args.slice(1).map(Number));
    return printed('');
  }
  switch ([tool, ...args].join(' ')) {
    case 'ipvsadm -R':
      return ran(ipvs.restore(input));
    case 'ipvsadm -L --timeout':
      return printed(`Timeout (tcp tcpfin udp): ${ipvs.timeouts.join(' ')}\n`);
    case 'ipvsadm -Sn':
      return printed(ipvs.save());
    case 'ipset -exist restore':
      return ran(ipsets.restore(input));
    case 'ipset -exist -':
      return ran(ipsets.type(input));
    case 'ipset list -t':
      return printed(ipsets.sizes());
    case 'ipset save':
      return printed(ipsets.save());
    case 'ip -force -batch -':
      return ran(addresses.batch(input));
    case 'ip -json address show':
      return printed(addresses.show());
    case 'ip -json -details link show':
      return printed(addresses.showKinds());
    case 'conntrack -L -p udp -f ipv4':
      return printed(conntrack.list('ipv4'));
    case 'conntrack -L -p udp -f ipv6':
      return printed(conntrack.list('ipv6'));
    case 'iptables-restore -w 5 --noflush':
      return ran(tables.IPv4.restore(input));
    case 'ip6tables-restore -w 5 --noflush':
      return ran(tables.IPv6.restore(input));
    case 'iptables-save':
      return printed(tables.IPv4.save());
    case 'ip6tables-save':
      return printed(tables.IPv6.save());
    default:
      return { stdout: '', stderr: `the memory kernel has no ${[tool, ...args].join(' ')}\n`, exitCode: 127 };
  }
}
