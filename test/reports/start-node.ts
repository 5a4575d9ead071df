import { prepareNode } from '../../src/apply/prepare-node.ts';
import { fromFile } from '../../src/config/config-fixture.ts';
import { makeReady } from '../../src/make-ready.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { type StartingHost, startingHost } from '../config/starting-host.ts';
import { memoryKernel } from '../kernel/memory-kernel.ts';

/** Sysctls by their path under `/proc/sys`, as a start with this configuration leaves a Linux 6.1 that had `before`. */
export async function sysctlsAfterStart(
  configuration: string,
  before: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const host = memoryKernel({});
  for (const [path, value] of Object.entries(before)) host.files.set(`/proc/sys/${path}`, `${value}\n`);
  const { ipvs, ...config } = fromFile(configuration);
  const { conntrack } = config;
  const done = await prepareNode(host, '6.1.0', {
    strictArp: ipvs.strictARP,
    timeouts: ipvs,
    choices: config,
    conntrack,
  });
  if (!done.ok) throw new Error(done.error.join('\n'));
  return sysctlsOf(host);
}

/** A node that is ready for its first pass. */
export interface StartedNode {
  readonly host: StartingHost;
  readonly warnings: readonly string[];
  /** Fields of the lines of the log that are no warnings, by their sentence; of several the last one. */
  readonly told: ReadonlyMap<string, object>;
  /** By their path under `/proc/sys`. */
  sysctls(): Readonly<Record<string, string>>;
  keepSettings(): Promise<void>;
}

export interface StartSketch {
  readonly configuration?: string;
  /** `uname -r`, by default of a Linux 6.1. */
  readonly release?: string;
  /** Files by their whole path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Sysctls that the kernel does not have, by their path under `/proc/sys`. */
  readonly absent?: readonly string[];
  /** What `iptables --version` prints. */
  readonly iptables?: string;
}

/** Makes a machine in memory ready as the daemon does; throws where that ends the program. */
export async function startNode({
  configuration = '',
  release = '6.1.0',
  files = {},
  absent = [],
  iptables,
}: StartSketch): Promise<StartedNode> {
  const kernel = startingHost();
  for (const [path, text] of Object.entries(files)) kernel.files.set(path, `${text}\n`);
  const { runTool, writeText } = kernel;
  const host: StartingHost = {
    ...kernel,
    runTool: async (call) =>
      iptables !== undefined && call.tool === 'iptables' && call.args[0] === '--version'
        ? { ok: true, value: { stdout: iptables, stderr: '' } }
        : runTool(call),
    writeText: async (path, text) =>
      absent.includes(path.replace('/proc/sys/', ''))
        ? { ok: false, error: { kind: 'file-failed', path, code: 'ENOENT' } }
        : writeText(path, text),
  };
  const warnings: string[] = [];
  const told = new Map<string, object>();
  const log = {
    debug: () => {},
    info: (fields: object, sentence: string) => void told.set(sentence, fields),
    warn: (sentence: string) => void warnings.push(sentence),
  } as unknown as Parameters<typeof makeReady>[1]['log'];
  const abilities = { families: FAMILIES, randomFully: true, kernelRelease: release };
  const made = await makeReady(host, { config: fromFile(configuration), abilities, log });
  if (!made.ok) throw new Error(made.error.join('\n'));
  const { keepSettings } = made.value;
  return { host, warnings, told, sysctls: () => sysctlsOf(host), keepSettings };
}

function sysctlsOf({ files }: { readonly files: ReadonlyMap<string, string> }): Readonly<Record<string, string>> {
  return Object.fromEntries([...files].map(([path, text]) => [path.replace('/proc/sys/', ''), text.trim()]));
}
