import type { ToolAnswer } from './memory-ipvs.ts';

/** Interfaces with their addresses, programmed by lines of `ip -batch` and by nothing else. */
export class MemoryAddresses {
  readonly #links = new Map<string, Set<string>>();
  #refused: readonly string[] = [];

  constructor(links: Readonly<Record<string, readonly string[]>>) {
    for (const [name, addresses] of Object.entries(links)) this.#links.set(name, new Set(addresses));
  }

  /** With `-force`: goes on after a refusal, and the status is 1 at the end. */
  batch(script: string): ToolAnswer {
    const refusals = script.split('\n').flatMap((line, index) => {
      const refusal = line === '' ? undefined : this.#runLine(line);
      return refusal === undefined ? [] : [`${refusal}\nCommand failed -:${index + 1}\n`];
    });
    return { stderr: refusals.join(''), exitCode: refusals.length > 0 ? 1 : 0 };
  }

  /** From now on the kernel refuses these addresses, such as `172.20.1.1/32`, and no others. */
  refuse(...addresses: readonly string[]): void {
    this.#refused = addresses;
  }

  /** Puts an address on an interface as somebody else would. */
  put(link: string, address: string): void {
    this.#links.set(link, (this.#links.get(link) ?? new Set()).add(address));
  }

  /** Addresses of an interface without their lengths. */
  addresses(link: string): string[] {
    return [...(this.#links.get(link) ?? [])].map((address) => address.slice(0, address.indexOf('/')));
  }

  /** As `ip -json address show` prints it. */
  show(): string {
    const links = [...this.#links].map(([ifname, addresses], index) => ({
      ifindex: index + 1,
      ifname,
      addr_info: [...addresses].map((address) => {
        const [local, prefixlen] = address.split('/');
        return { family: local?.includes(':') ? 'inet6' : 'inet', local, prefixlen: Number(prefixlen) };
      }),
    }));
    return JSON.stringify(links);
  }

  /** As `/proc/net/dev` shows interfaces, without their numbers. */
  devices(): string {
    return ['Inter-|   Receive', ' face |bytes', ...[...this.#links.keys()].map((name) => `${name.padStart(6)}: 0 0`)]
      .map((line) => `${line}\n`)
      .join('');
  }

  /** As `ip -json -details link show` prints it. */
  showKinds(): string {
    const kindOf = (name: string) => (name === 'kube-ipvs0' ? { linkinfo: { info_kind: 'dummy' } } : {});
    return JSON.stringify([...this.#links.keys()].map((ifname) => ({ ifname, ...kindOf(ifname) })));
  }

  #runLine(line: string): string | undefined {
    const link = /^link add (\S+) type dummy$/.exec(line)?.[1];
    if (link !== undefined) {
      if (this.#links.has(link)) return 'RTNETLINK answers: File exists';
      this.#links.set(link, new Set());
      return undefined;
    }
    const deleted = /^link delete (\S+)$/.exec(line)?.[1];
    if (deleted !== undefined) return this.#links.delete(deleted) ? undefined : `Cannot find device "${deleted}"`;
    const [, command, address = '', device = ''] =
      /^address (replace|delete) (\S+\/(?:32|128)) dev (\S+)$/.exec(line) ?? [];
    const addresses = this.#links.get(device);
    if (command === undefined) return `Command "${line}" is unknown`;
    if (!addresses) return `Cannot find device "${device}"`;
    if (this.#refused.includes(address)) return 'RTNETLINK answers: Invalid argument';
    if (command === 'replace') {
      if (addresses.has(address)) return 'a needless replacement';
      addresses.add(address);
      return undefined;
    }
    return addresses.delete(address) ? undefined : 'RTNETLINK answers: Cannot assign requested address';
  }
}
