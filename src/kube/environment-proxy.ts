import { type Cidr, cidrContains, parseCidr } from '../net/cidr.ts';
import { parseIpAddress } from '../net/ip-address.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * URL of the proxy that `HTTPS_PROXY`, for a server without TLS `HTTP_PROXY`, names, unless `NO_PROXY` has the server or it is this machine
 * itself; undefined for none. All three may be written small. Source: golang.org/x/net http/httpproxy, which client-go follows
 */
export function environmentProxy(server: string, environment: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const isTls = protocol === 'https:';
  const proxy = read(environment, isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const asked: Asked = { host: hostname.replace(/^\[|\]$/g, ''), port: port || (isTls ? '443' : '80') };
  if (proxy === '' || isThisMachine(asked)) return undefined;
  const exceptions = read(environment, 'NO_PROXY').toLowerCase().split(',');
  if (exceptions.some((each) => isException(each.trim(), asked))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

interface Asked {
  readonly host: string;
  readonly port: string;
}

function read(environment: Environment, name: string): string {
  return environment[name] || environment[name.toLowerCase()] || '';
}

function isThisMachine({ host }: Asked): boolean {
  const address = parseIpAddress(host);
  return host === 'localhost' || address === '::1' || (address !== undefined && cidrContains(LOOPBACK, address));
}

const LOOPBACK = '127.0.0.0/8' as Cidr;

/** `*`, a range, or an address or name that may have a port; a name holds for those below it, too, one that begins with a dot for those alone. */
function isException(text: string, asked: Asked): boolean {
  if (text === '*') return true;
  const address = parseIpAddress(asked.host);
  const range = parseCidr(text);
  if (range) return address !== undefined && cidrContains(range, address);
  const { host, port } = splitPort(text);
  if (host === '' || (port !== '' && port !== asked.port)) return false;
  const excepted = parseIpAddress(host);
  if (excepted) return excepted === address;
  const name = host.replace(/^\*(?=\.)/, '');
  return name.startsWith('.') ? asked.host.endsWith(name) : asked.host === name || asked.host.endsWith(`.${name}`);
}

/** An IPv6 address stands in brackets before a port. */
function splitPort(text: string): Asked {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*)):([^:]*)$/.exec(text) ?? [];
  return { host: bracketed ?? plain ?? text, port: port ?? '' };
}
