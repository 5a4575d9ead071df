import { fail, type Result, succeed } from '../model/result.ts';
import type { FolderHost } from './host.ts';
import type { ToolCall } from './tool.ts';

export interface MachineSketch {
  /** Texts by path; what is not named is not there. */
  readonly files?: Readonly<Record<string, string>>;
  /** Paths that are folders of the kernel, or cannot be read; code by path. */
  readonly refused?: Readonly<Record<string, string>>;
  /** What is printed, by the command line; what is not named is not installed. */
  readonly tools?: Readonly<Record<string, string>>;
}

/** A machine of files and printed texts. It fails on any writing, and keeps what was started. */
export function machine({
  files = {},
  refused = {},
  tools = {},
}: MachineSketch): FolderHost & { readonly started: string[] } {
  const started: string[] = [];
  const missing = (path: string, code: string) => fail({ kind: 'file-failed', path, code } as const);
  return {
    started,
    runTool: async ({ tool, args, input }: ToolCall) => {
      if (input !== undefined) throw new Error(`${tool} was given a script`);
      const line = [tool, ...args].join(' ');
      started.push(line);
      const stdout = tools[line];
      return stdout === undefined ? fail({ kind: 'tool-missing', tool }) : succeed({ stdout, stderr: '' });
    },
    readText: async (path) => {
      const text = files[path];
      return text === undefined ? missing(path, refused[path] ?? 'ENOENT') : succeed(text);
    },
    writeText: async (path): Promise<Result<void, never>> => {
      throw new Error(`${path} was written`);
    },
    listFolder: async (path) => {
      const inside = Object.keys(files).filter((each) => each.startsWith(`${path}/`));
      const names = inside.map((each) => each.slice(path.length + 1).split('/')[0] ?? '');
      return names.length === 0 ? missing(path, 'ENOENT') : succeed([...new Set(names)]);
    },
  };
}
