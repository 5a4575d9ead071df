/** Programs that we start, by the name we look them up with. */
export type Tool =
  | 'ipvsadm'
  | 'ipset'
  | 'ip'
  | 'iptables-restore'
  | 'ip6tables-restore'
  | 'iptables-save'
  | 'ip6tables-save'
  | 'iptables-legacy-save'
  | 'ip6tables-legacy-save'
  | 'iptables-nft-save'
  | 'ip6tables-nft-save'
  | 'iptables'
  | 'ip6tables'
  | 'modprobe'
  | 'conntrack'
  | 'nft';

/** One start of a tool; no shell is ever involved. */
export interface ToolCall {
  readonly tool: Tool;
  readonly args: readonly string[];
  /** What it reads on its standard input; nothing when absent. */
  readonly input?: string;
  readonly timeoutMs: number;
}

export interface ToolOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/** Why a tool did not do what it was asked to. */
export type ToolError =
  | { readonly kind: 'tool-missing'; readonly tool: Tool }
  | { readonly kind: 'tool-timeout'; readonly tool: Tool; readonly afterMs: number }
  | {
      readonly kind: 'tool-refused';
      readonly tool: Tool;
      /** -1 for a tool that was ended by a signal or could not be started. */
      readonly exitCode: number;
      /** As printed, untranslated. */
      readonly stderr: string;
      /** What it was given to read; `''` for nothing. */
      readonly script: string;
    };

/** Why a file of the kernel could not be read or written. */
export interface FileError {
  readonly kind: 'file-failed';
  readonly path: string;
  /** The system's code, e.g. `ENOENT`. */
  readonly code: string;
}

/** One line for a person: what failed and what to do about it. */
export function describeToolError(error: ToolError | FileError): string {
  switch (error.kind) {
    case 'tool-missing':
      return `${error.tool} is not installed or not on PATH; install Debian's package ${PACKAGES[error.tool]}`;
    case 'tool-timeout':
      return `${error.tool} did not end within ${error.afterMs} ms and was stopped`;
    case 'tool-refused':
      return `${error.tool} failed with status ${error.exitCode}: ${firstLines(error.stderr)}`;
    case 'file-failed':
      return `${error.path}: ${error.code}`;
  }
}

function firstLines(stderr: string): string {
  const lines = stderr.trim().split('\n').filter(Boolean);
  const more = lines.length > 3 ? ` (and ${lines.length - 3} more lines)` : '';
  return `${lines.slice(0, 3).join('; ')}${more}`;
}

/** The Debian package that a tool is in. */
export function packageOf(tool: Tool): string {
  return PACKAGES[tool];
}

const PACKAGES: Readonly<Record<Tool, string>> = {
  ipvsadm: 'ipvsadm',
  ipset: 'ipset',
  ip: 'iproute2',
  'iptables-restore': 'iptables',
  'ip6tables-restore': 'iptables',
  'iptables-save': 'iptables',
  'ip6tables-save': 'iptables',
  'iptables-legacy-save': 'iptables',
  'ip6tables-legacy-save': 'iptables',
  'iptables-nft-save': 'iptables',
  'ip6tables-nft-save': 'iptables',
  iptables: 'iptables',
  ip6tables: 'iptables',
  modprobe: 'kmod',
  conntrack: 'conntrack',
  nft: 'nftables',
};
