import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fail, type Result, succeed } from '../model/result.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';

/** Where a server listens: on one address, or on every address of one family or, as far as the node has them, of both. */
export interface ListenAddress {
  readonly address: IpAddress | { readonly everywhere: Family | 'both' };
  /** 0 lets the system choose. */
  readonly port: number;
}

/** Answers one request; has to end the response. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that listens. */
export interface Listening {
  readonly port: number;
  /** Ends it together with its connections; resolves when the port is free again. */
  close(): Promise<void>;
}

export type Listen = (where: ListenAddress, answer: Answer) => Promise<Result<Listening, string>>;

/** Opens a plain HTTP server. The error is a line for a person, e.g. `listen EADDRINUSE: address already in use 0.0.0.0:10256`. */
export const listen: Listen = ({ address, port }, answer) => {
  const server = createServer(answer);
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(fail(error.message)));
    server.listen({ port, ...hostOf(address) }, () => {
      server.removeAllListeners('error');
      resolve(succeed({ port: portOf(server), close: () => close(server) }));
    });
  });
};

/** Without a host Node listens on `::` for both families, or on `0.0.0.0` where there is no IPv6. */
function hostOf(address: ListenAddress['address']): { readonly host?: string; readonly ipv6Only?: boolean } {
  if (typeof address === 'string') return { host: address };
  if (address.everywhere === 'both') return {};
  return address.everywhere === 'IPv4' ? { host: '0.0.0.0' } : { host: '::', ipv6Only: true };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
