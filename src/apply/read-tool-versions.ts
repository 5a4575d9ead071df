import type { ToolAnswer } from '../doctor/facts.ts';
import type { FolderHost } from './host.ts';
import { describeToolError, packageOf, type Tool } from './tool.ts';

/** Asks each tool for its version in a way that neither changes the kernel nor loads modules. `ipvsadm` loads IPVS whatever it is asked. */
export async function readToolVersions(host: FolderHost, hasIpvs: boolean): Promise<ReadonlyMap<string, ToolAnswer>> {
  const answers = await Promise.all(
    QUESTIONS.map(async ([tool, arg]): Promise<readonly [string, ToolAnswer]> => {
      const mayAsk = tool !== 'ipvsadm' || hasIpvs;
      return [tool, await (mayAsk ? ask(host, tool, arg) : lookOnPath(host, tool))];
    }),
  );
  return new Map(answers);
}

const QUESTIONS: readonly (readonly [Tool, string])[] = [
  ['ipvsadm', '--version'],
  // Its version proper asks the kernel.
  ['ipset', 'help'],
  ['ip', '-Version'],
  ['iptables', '--version'],
  ['ip6tables', '--version'],
  ['conntrack', '--version'],
];

async function ask(host: FolderHost, tool: Tool, arg: string): Promise<ToolAnswer> {
  const asked = await host.runTool({ tool, args: [arg], timeoutMs: 10_000 });
  if (asked.ok) return { kind: 'version', text: firstLine(`${asked.value.stdout}${asked.value.stderr}`) };
  const { error } = asked;
  if (error.kind === 'tool-missing') return { kind: 'missing', package: packageOf(tool) };
  const why = describeToolError(error);
  return /v\d+\.\d+/.test(why) ? { kind: 'version', text: why } : { kind: 'failed', why };
}

async function lookOnPath(host: FolderHost, tool: Tool): Promise<ToolAnswer> {
  for (const folder of (process.env.PATH ?? '').split(':').filter(Boolean)) {
    const listed = await host.listFolder(folder);
    if (listed.ok && listed.value.includes(tool)) {
      return { kind: 'failed', why: `it is there; to ask it would load IPVS` };
    }
  }
  return { kind: 'missing', package: packageOf(tool) };
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
