import { type ApiObject, listOf, recordOf } from './api-object.ts';

export type IpFamily = 'IPv4' | 'IPv6';

const nodePortRange = { first: 30000, last: 32767 };

/**
 * Gives out cluster IPs and node ports that no Service uses: 10.96.1.1 upward, fd00:96::101 upward, 30000 upward. What a Service
 * asks for by itself is noted, never refused; the lower addresses are left for that.
 */
export class Allocator {
  readonly #uses = new Map<string, number>();
  readonly #cursors = { IPv4: 0x101, IPv6: 0x101, port: nodePortRange.first };

  clusterIp(family: IpFamily): string {
    for (;;) {
      const number = this.#cursors[family];
      this.#cursors[family] = number >= 0xfffe ? 0x101 : number + 1;
      const address = family === 'IPv4' ? `10.96.${number >> 8}.${number & 0xff}` : `fd00:96::${number.toString(16)}`;
      if (!this.#uses.has(address)) return address;
    }
  }

  nodePort(): number {
    for (;;) {
      const port = this.#cursors.port;
      this.#cursors.port = port >= nodePortRange.last ? nodePortRange.first : port + 1;
      if (!this.#uses.has(String(port))) return port;
    }
  }

  /** Tells what a write of a Service took into use and gave back. */
  note(previous: ApiObject | undefined, current: ApiObject | undefined): void {
    for (const used of current ? usedBy(current) : []) this.#uses.set(used, (this.#uses.get(used) ?? 0) + 1);
    for (const freed of previous ? usedBy(previous) : []) {
      const left = (this.#uses.get(freed) ?? 0) - 1;
      if (left > 0) this.#uses.set(freed, left);
      else this.#uses.delete(freed);
    }
  }
}

function usedBy(service: ApiObject): readonly string[] {
  const spec = recordOf(service.spec);
  const ports = listOf(spec.ports).map((port) => recordOf(port).nodePort);
  return [...listOf(spec.clusterIPs), ...ports, spec.healthCheckNodePort]
    .filter((value) => value !== undefined)
    .map(String);
}
