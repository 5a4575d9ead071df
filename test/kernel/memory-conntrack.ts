import type { ToolAnswer } from './memory-ipvs.ts';

/** UDP flows as `ADDRESS:PORT` (IPv6 in brackets): who sends, where to, and who answers. */
export interface MemoryFlow {
  readonly from: string;
  readonly to: string;
  readonly answeredBy: string;
}

type Printed = ToolAnswer & { readonly stdout: string };

const DELETION =
  /^-f (ipv[46]) -p udp --orig-dst (\S+) --orig-port-dst (\d+)(?: --reply-src (\S+) --reply-port-src (\d+))?$/;

/** The table of tracked UDP flows. Tests put flows there, and `conntrack -D` ends them. */
export class MemoryConntrack {
  #flows: readonly MemoryFlow[] = [];

  put(...flows: readonly MemoryFlow[]): void {
    this.#flows = [...this.#flows, ...flows];
  }

  /** `FROM > TO > ANSWERER`, in the order in which they were put. */
  flows(): readonly string[] {
    return this.#flows.map(({ from, to, answeredBy }) => `${from} > ${to} > ${answeredBy}`);
  }

  /** As `conntrack -L -p udp -f ipv4` prints it. */
  list(family: 'ipv4' | 'ipv6'): string {
    return this.#flows
      .filter(({ to }) => to.startsWith('[') === (family === 'ipv6'))
      .map(print)
      .join('');
  }

  /** Takes the arguments behind `-D`. The tool refuses an address of another family than it is told. */
  delete(args: readonly string[]): Printed {
    const [, family, to = '', toPort, answerer, answererPort] = DELETION.exec(args.join(' ')) ?? [];
    const addresses = [to, answerer ?? to];
    if (family === undefined || addresses.some((address) => address.includes(':') !== (family === 'ipv6'))) {
      return { stdout: '', stderr: `${NAME}: mismatched address family\n`, exitCode: 2 };
    }
    const [frontend, endpoint] = [join(to, toPort), answerer && join(answerer, answererPort)];
    const ended = this.#flows.filter((flow) => flow.to === frontend && [undefined, flow.answeredBy].includes(endpoint));
    this.#flows = this.#flows.filter((flow) => !ended.includes(flow));
    const stderr = `${NAME}: ${ended.length} flow entries have been deleted.\n`;
    return { stdout: ended.map(print).join(''), stderr, exitCode: ended.length > 0 ? 0 : 1 };
  }
}

const NAME = 'conntrack v1.4.7 (conntrack-tools)';

function join(address: string, port: string | undefined): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function print({ from, to, answeredBy }: MemoryFlow): string {
  const [source, sport] = split(from);
  const [target, dport] = split(to);
  const [answerer, rport] = split(answeredBy);
  const original = `src=${source} dst=${target} sport=${sport} dport=${dport}`;
  const state = to === answeredBy ? '[UNREPLIED] ' : '';
  const assured = to === answeredBy ? '' : '[ASSURED] ';
  return `udp      17 29 ${original} ${state}src=${answerer} dst=${source} sport=${rport} dport=${sport} ${assured}mark=0 use=1\n`;
}

function split(end: string): readonly [string, string] {
  const colon = end.lastIndexOf(':');
  return [end.slice(0, colon).replace(/^\[|\]$/g, ''), end.slice(colon + 1)];
}
