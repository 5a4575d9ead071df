import type { Fact } from '../doctor/facts.ts';
import { fail, succeed } from '../model/result.ts';
import type { Host } from './host.ts';
import { describeToolError } from './tool.ts';

/** TCP ports of this network namespace on which somebody listens, on whatever address. */
export async function readListening(host: Host): Promise<Fact<ReadonlySet<number>>> {
  const [four, six] = await Promise.all([host.readText('/proc/net/tcp'), host.readText('/proc/net/tcp6')]);
  if (!four.ok) return fail(describeToolError(four.error));
  return succeed(new Set([...portsOf(four.value), ...(six.ok ? portsOf(six.value) : [])]));
}

/** `0: 0100007F:2809 00000000:0000 0A …`: state 0A listens. */
function portsOf(text: string): readonly number[] {
  return [...text.matchAll(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A /gm)].map(([, port = '']) =>
    Number.parseInt(port, 16),
  );
}
