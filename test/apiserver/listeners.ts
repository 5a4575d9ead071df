import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import type { Certificates } from './certificates.ts';

/** The listening sockets of one server, all on the same port, and the connections made to them. */
export class Listeners {
  #servers: Server[] = [];
  #port: number;
  readonly #connections = new Set<Socket>();
  #forsaken = new WeakSet<Socket>();
  readonly #addresses: readonly string[];
  #certificates: Certificates | undefined;
  #clientCa: string | undefined;
  readonly #serve: RequestListener;

  /** Without `certificates` it is plain HTTP. `port` 0: any free one. `clientCa`: PEM of the authority that certificates of clients have to be from. */
  constructor(
    addresses: readonly string[],
    port: number,
    certificates: Certificates | undefined,
    clientCa: string | undefined,
    serve: RequestListener,
  ) {
    this.#addresses = addresses;
    this.#port = port;
    this.#certificates = certificates;
    this.#clientCa = clientCa;
    this.#serve = serve;
  }

  /** URL of the first address, without a slash at the end. Only known once {@link open} has resolved. */
  get url(): string {
    const [address = '127.0.0.1'] = this.#addresses;
    const host = isIPv6(address) ? `[${address}]` : address;
    return `${this.#certificates ? 'https' : 'http'}://${host}:${this.#port}`;
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Begins to accept connections, on the same port as before; rejects when an address cannot be bound. */
  async open(): Promise<void> {
    for (const address of this.#addresses) {
      const server = this.#certificates
        ? createHttpsServer(this.#tls(this.#certificates), this.#serve)
        : createHttpServer(this.#serve);
      server.on('connection', (socket: Socket) => {
        this.#connections.add(socket);
        socket.on('close', () => this.#connections.delete(socket));
      });
      await listen(server, this.#port, address);
      this.#port = (server.address() as AddressInfo).port;
      this.#servers.push(server);
    }
  }

  /** Connections that are open now are not to be answered any more. */
  forsake(): void {
    this.#forsaken = new WeakSet(this.#connections);
  }

  /** `socket`: of a request; by TLS it is another object than the connection, but for its ports. */
  isForsaken(socket: Socket): boolean {
    return [...this.#connections].some((each) => each.remotePort === socket.remotePort && this.#forsaken.has(each));
  }

  /** What connections from now on are shown, and what they have to show; those that are open stay. */
  renew(certificates: Certificates, clientCa: string | undefined): void {
    this.#certificates = certificates;
    this.#clientCa = clientCa;
    for (const server of this.#servers)
      if (server instanceof HttpsServer) server.setSecureContext(this.#tls(certificates));
  }

  #tls({ cert, key }: Certificates): ServerOptions {
    const asking = { requestCert: true, rejectUnauthorized: false };
    return { cert, key, ...asking, ...(this.#clientCa ? { ca: this.#clientCa } : {}) };
  }

  /** Accepts no more connections and breaks those that are open. */
  async close(): Promise<void> {
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    this.#servers = [];
    for (const socket of this.#connections) socket.destroy();
    await Promise.all(closed);
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, ipv6Only: isIPv6(host) }, resolve);
  });
}
