import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import type { ApiServerFacts, Fact } from '../doctor/facts.ts';
import { fail, succeed } from '../model/result.ts';
import { type IpAddress, parseIpAddress } from '../net/ip-address.ts';

/** Resolves the host of a URL, and opens a connection that is closed at once; nothing is sent. */
export async function reachServer(url: string, timeoutMs: number): Promise<Omit<ApiServerFacts, 'credentials'>> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const [addresses, connection] = await Promise.all([
    resolveHost(host),
    openConnection(host, Number(port) || (protocol === 'http:' ? 80 : 443), timeoutMs),
  ]);
  return { url, addresses, connection };
}

/** What answers at `/proxyMode` of a metrics server of kube-proxy, or of this program; `undefined` when nothing does. */
export async function askProxyMode(port: number): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/proxyMode`, { signal: AbortSignal.timeout(2_000) });
    const text = (await answer.text()).trim();
    return answer.ok && /^[a-z]{1,20}$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

async function resolveHost(host: string): Promise<Fact<readonly IpAddress[]>> {
  const literal = parseIpAddress(host);
  if (literal) return succeed([literal]);
  try {
    const found = await lookup(host, { all: true });
    return succeed(found.flatMap(({ address }) => parseIpAddress(address) ?? []));
  } catch (error) {
    return fail(`${host} has no address: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}

function openConnection(host: string, port: number, timeoutMs: number): Promise<Fact<void>> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (outcome: Fact<void>) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once('connect', () => end(succeed(undefined)));
    socket.once('timeout', () => end(fail(`it did not answer within ${timeoutMs} ms`)));
    socket.once('error', (error: NodeJS.ErrnoException) => end(fail(error.code ?? error.message)));
  });
}
