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

/** What a tool does of its script when it is refused one line, counted from 0: two go on behind it, and `ipset` where it is given commands one by one. */
export function scriptWithout(tool: Tool, script: string, index: number, goesOn = tool !== 'ipset'): string {
  const lines = linesOf(script);
  const before = lines.slice(0, index);
  if (isOfTables(tool)) return joined(before.slice(0, before.lastIndexOf('COMMIT') + 1));
  return joined(goesOn ? lines.toSpliced(index, 1) : before);
}

function isOfTables(tool: Tool): boolean {
  return tool === 'iptables-restore' || tool === 'ip6tables-restore';
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
