import { parseTimeouts, type TimeoutSeconds } from '../kernel/ipvs/parse-timeouts.ts';
import type { Host } from './host.ts';

/** Seconds after which the kernel forgets idle connections; `undefined` where it does not tell. */
export interface IdleTimeouts {
  readonly ipvs: TimeoutSeconds;
  /** Tracked UDP flows without a reply, and with replies. */
  readonly trackedUdp: number | undefined;
  readonly trackedUdpStream: number | undefined;
  readonly trackedTcp: number | undefined;
  /** Before the first packet that keeps a TCP connection alive. */
  readonly tcpKeepAlive: number | undefined;
}

/** What is in force now; `undefined` where IPVS does not tell. */
export async function readIdleTimeouts(host: Host): Promise<IdleTimeouts | undefined> {
  const listed = await host.runTool({ tool: 'ipvsadm', args: ['-L', '--timeout'], timeoutMs: TIMEOUT_MS });
  const ipvs = listed.ok ? parseTimeouts(listed.value.stdout) : undefined;
  if (!ipvs) return undefined;
  const [trackedUdp, trackedUdpStream, trackedTcp, tcpKeepAlive] = await Promise.all(
    FILES.map(async (path) => {
      const read = await host.readText(`/proc/sys/net/${path}`);
      return read.ok ? Number(read.value) : undefined;
    }),
  );
  return { ipvs, trackedUdp, trackedUdpStream, trackedTcp, tcpKeepAlive };
}

const TIMEOUT_MS = 30_000;

const FILES = [
  'netfilter/nf_conntrack_udp_timeout',
  'netfilter/nf_conntrack_udp_timeout_stream',
  'netfilter/nf_conntrack_tcp_timeout_established',
  'ipv4/tcp_keepalive_time',
] as const;

/** Where connections end earlier than one may expect. `asked`: the timeouts of the configuration, of which one below a second asks for nothing. */
export function judgeIdleTimeouts(
  { ipvs, trackedUdp, trackedUdpStream, trackedTcp, tcpKeepAlive }: IdleTimeouts,
  asked: { readonly tcpTimeoutMs: number; readonly udpTimeoutMs: number },
): readonly string[] {
  const shorter = (what: string, field: string, seconds: number, name: string, tracked: number | undefined) =>
    tracked !== undefined && tracked < seconds
      ? [`${what} end after ${tracked} s, by ${name}, which is shorter than the ${seconds} s of ${field}`]
      : [];
  const [tcp, udp] = [asked.tcpTimeoutMs >= 1000, asked.udpTimeoutMs >= 1000];
  return [
    ...(tcpKeepAlive !== undefined && ipvs.tcp < tcpKeepAlive
      ? [`idle TCP connections end in IPVS after ${ipvs.tcp} s, and are kept alive after ${tcpKeepAlive} s; ${RAISE}`]
      : []),
    ...(tcp ? shorter('idle TCP connections', 'ipvs.tcpTimeout', ipvs.tcp, TRACKED_TCP, trackedTcp) : []),
    ...(udp ? shorter('UDP flows without a reply', 'ipvs.udpTimeout', ipvs.udp, TRACKED_UDP, trackedUdp) : []),
    ...(udp ? shorter('UDP flows', 'ipvs.udpTimeout', ipvs.udp, TRACKED_UDP_STREAM, trackedUdpStream) : []),
  ];
}

const RAISE = 'raise ipvs.tcpTimeout, or lower net.ipv4.tcp_keepalive_time where the programs run';
const TRACKED_TCP = 'nf_conntrack_tcp_timeout_established';
const TRACKED_UDP = 'nf_conntrack_udp_timeout';
const TRACKED_UDP_STREAM = 'nf_conntrack_udp_timeout_stream';
