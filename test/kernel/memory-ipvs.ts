/** Answer of a tool of the memory kernel: what it printed on stderr, and its status. */
export interface ToolAnswer {
  readonly stderr: string;
  readonly exitCode: number;
}

interface MemoryServer {
  /** `-s rr`, and what may follow. */
  options: string;
  readonly reals: Map<string, { options: string; connections: number }>;
}

const SERVICE = String.raw`(-t|-u|--sctp-service) (\[[0-9a-f:]+\]:\d+|\d+\.\d+\.\d+\.\d+:\d+)`;
const REAL = String.raw`-r (\[[0-9a-f:]+\]:\d+|\d+\.\d+\.\d+\.\d+:\d+)`;
const SERVER_LINE = new RegExp(String.raw`^(-A|-E) ${SERVICE} (-s [a-z]+(?: -p [1-9]\d*)?(?: -b [a-z0-9,-]+)?)$`);
const SERVER_DELETE = new RegExp(`^-D ${SERVICE}$`);
const REAL_LINE = new RegExp(String.raw`^(-a|-e) ${SERVICE} ${REAL} (-m -w \d+)$`);
const REAL_DELETE = new RegExp(`^-d ${SERVICE} ${REAL}$`);

/**
 * The IPVS tables, programmed by lines of `ipvsadm -R` and by nothing else. Like the tool it goes on after a refusal of the kernel, stops
 * at a line it cannot parse (every line that the program never writes is such a line), and exits with the status of the last line.
 */
export class MemoryIpvs {
  /** What the kernel has; others are refused. */
  readonly schedulers = new Set('rr wrr lc wlc lblc lblcr sh dh sed nq fo ovf mh'.split(' '));
  readonly #servers = new Map<string, MemoryServer>();
  /** Seconds after which an idle connection is forgotten: TCP, after a FIN, UDP. */
  timeouts: readonly number[] = [900, 120, 300];
  #refused: readonly string[] = [];

  /** From now on the kernel refuses to add these, virtual or real servers such as `10.0.0.255:80`, and nothing else. */
  refuse(...addresses: readonly string[]): void {
    this.#refused = addresses;
  }

  restore(script: string): ToolAnswer {
    const refusals: string[] = [];
    let exitCode = 0;
    for (const line of script.split('\n')) {
      if (line === '') continue;
      const refusal = this.#runLine(line);
      if (refusal === 'unparsable')
        return { stderr: `${[...refusals, `cannot parse: ${line}`].join('\n')}\n`, exitCode: 2 };
      if (refusal !== undefined) refusals.push(refusal);
      exitCode = refusal === undefined ? 0 : 255;
    }
    return { stderr: refusals.map((text) => `${text}\n`).join(''), exitCode };
  }

  /** As `ipvsadm --set`: 0 leaves one as it is. */
  setTimeouts(seconds: readonly number[]): void {
    this.timeouts = this.timeouts.map((present, index) => seconds[index] || present);
  }

  /** As `ipvsadm -Sn` prints it. */
  save(): string {
    return [...this.#servers]
      .flatMap(([key, { options, reals }]) => [
        `-A ${key} ${options}\n`,
        ...[...reals].map(([address, real]) => `-a ${key} -r ${address} ${real.options}\n`),
      ])
      .join('');
  }

  /** As `ipvsadm -Ln` prints it, or with `-t ADDRESS:PORT`; `undefined` for a server that is not there. */
  list(only?: string): string | undefined {
    if (only !== undefined && !this.#servers.has(only)) return undefined;
    const shown = [...this.#servers].filter(([key]) => only === undefined || key === only);
    const header = only === undefined ? VERSION + HEADER : HEADER;
    return header + shown.map(([key, server]) => listServer(key, server, String)).join('');
  }

  /**
   * As `/proc/net/ip_vs` shows it, without the virtual servers in `skipped`: where other network namespaces have some, the kernel may skip
   * one behind a page.
   */
  proc(skipped: ReadonlySet<string> = new Set()): string {
    const shown = [...this.#servers].filter(([key]) => !skipped.has(key));
    return VERSION + HEADER + shown.map(([key, server]) => listServer(key, server, hexAddressPort)).join('');
  }

  /** Puts connections on a real server, e.g. `('-t 172.20.1.1:80', '10.180.0.1:8080', 3)`. */
  connect(server: string, real: string, connections: number): void {
    const found = this.#servers.get(server)?.reals.get(real);
    if (!found) throw new Error(`no real server ${real} of ${server}`);
    found.connections = connections;
  }

  #runLine(line: string): string | undefined {
    const isAddition = line.startsWith('-A') || line.startsWith('-a');
    if (
      isAddition &&
      this.#refused.some((address) => line.includes(line[1] === 'A' ? ` ${address} -s` : `-r ${address} `))
    ) {
      return 'Invalid operation';
    }
    return (
      this.#runServerLine(SERVER_LINE.exec(line)) ??
      this.#deleteServer(SERVER_DELETE.exec(line)) ??
      this.#runRealLine(REAL_LINE.exec(line)) ??
      this.#deleteReal(REAL_DELETE.exec(line)) ?? { refusal: 'unparsable' }
    ).refusal;
  }

  #runServerLine(match: RegExpExecArray | null): { refusal?: string } | undefined {
    if (!match) return undefined;
    const [, command, flag, address, options = ''] = match;
    const key = `${flag} ${address}`;
    const present = this.#servers.get(key);
    const [, scheduler = ''] = options.split(' ');
    if (!this.schedulers.has(scheduler)) return { refusal: 'Scheduler or persistence engine not found' };
    if (command === '-A') {
      if (present) return { refusal: 'Service already exists' };
      this.#servers.set(key, { options, reals: new Map() });
    } else {
      if (!present) return { refusal: 'No such service' };
      present.options = options;
    }
    return {};
  }

  #deleteServer(match: RegExpExecArray | null): { refusal?: string } | undefined {
    if (!match) return undefined;
    return this.#servers.delete(`${match[1]} ${match[2]}`) ? {} : { refusal: 'No such service' };
  }

  #runRealLine(match: RegExpExecArray | null): { refusal?: string } | undefined {
    if (!match) return undefined;
    const [, command, flag, address, real = '', options = ''] = match;
    const reals = this.#servers.get(`${flag} ${address}`)?.reals;
    if (!reals) return { refusal: 'Service not defined' };
    const present = reals.get(real);
    if (command === '-a') {
      if (present) return { refusal: 'Destination already exists' };
      reals.set(real, { options, connections: 0 });
    } else {
      if (!present) return { refusal: 'No such destination' };
      present.options = options;
    }
    return {};
  }

  #deleteReal(match: RegExpExecArray | null): { refusal?: string } | undefined {
    if (!match) return undefined;
    const reals = this.#servers.get(`${match[1]} ${match[2]}`)?.reals;
    if (!reals) return { refusal: 'Service not defined' };
    return reals.delete(match[3] ?? '') ? {} : { refusal: 'No such destination' };
  }
}

const VERSION = 'IP Virtual Server version 1.2.1 (size=4096)\n';
const HEADER =
  'Prot LocalAddress:Port Scheduler Flags\n' + '  -> RemoteAddress:Port Forward Weight ActiveConn InActConn\n';

/** The file shows persistence in ticks of the kernel. */
const TICKS_PER_SECOND = 250;

function listServer(key: string, { options, reals }: MemoryServer, show: (address: string) => string): string {
  const [flag = '', address = ''] = key.split(' ');
  const protocol = { '-t': 'TCP', '-u': 'UDP', '--sctp-service': 'SCTP' }[flag] ?? '';
  const isProc = show !== String;
  const scheduler = /-s (\S+)/.exec(options)?.[1] ?? '';
  const flags = isProc ? undefined : /-b (\S+)/.exec(options)?.[1];
  const seconds = /-p (\d+)/.exec(options)?.[1];
  const ticks = isProc ? `${Number(seconds) * TICKS_PER_SECOND} FFFFFFFF` : seconds;
  const words = [scheduler, flags && `(${flags})`, seconds && `persistent ${ticks}`].filter(Boolean);
  const lines = [...reals].map(([real, state]) => {
    const weight = /-w (\d+)/.exec(state.options)?.[1] ?? '';
    return `  -> ${show(real).padEnd(28)} Masq    ${weight.padEnd(6)} ${state.connections}          0         \n`;
  });
  return `${protocol.padEnd(4)} ${show(address)} ${words.join(' ')}\n${lines.join('')}`;
}

function hexAddressPort(text: string): string {
  const colon = text.lastIndexOf(':');
  const [address, port] = [text.slice(0, colon), Number(text.slice(colon + 1))];
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  if (!address.startsWith('[')) {
    const bytes = address.split('.').map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, '0'));
    return `${bytes.join('')}:${hexPort}`;
  }
  const [head = '', tail] = address.slice(1, -1).split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return `[${[...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(':')}]:${hexPort}`;
}
