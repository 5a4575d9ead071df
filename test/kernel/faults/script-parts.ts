import type { Tool } from '../../../src/apply/tool.ts';

export function linesOf(script: string): readonly string[] {
  return script.split('\n').filter(Boolean);
}

/** What a tool has done of its script when it is stopped; rules are taken by the table. */
export function scriptUpTo(tool: Tool, script: string | undefined, share: number): string {
  const lines = linesOf(script ?? '');
  const done = lines.slice(0, Math.round(share * lines.length));
  return joined(isOfTables(tool) ? done.slice(0, done.lastIndexOf('COMMIT') + 1) : done);
}

/** What a tool does of its script when it is refused lines: two go on behind each, and `ipset` where it is given commands one by one. */
export function scriptWithout(
  tool: Tool,
  script: string,
  isRefused: (line: string) => boolean,
  goesOn: boolean,
): string {
  const lines = linesOf(script);
  const before = lines.slice(0, lines.findIndex(isRefused));
  if (isOfTables(tool)) return joined(before.slice(0, before.lastIndexOf('COMMIT') + 1));
  return joined(goesOn ? lines.filter((line) => !isRefused(line)) : before);
}

function isOfTables(tool: Tool): boolean {
  return tool === 'iptables-restore' || tool === 'ip6tables-restore';
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
