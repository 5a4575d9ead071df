import { type IpAddress, parseIpAddress } from '../net/ip-address.ts';
import { type Port, parsePort } from '../net/port.ts';
import { type Protocol, parseProtocol } from '../net/protocol.ts';

/** What somebody asks about. */
export type Target =
  | {
      readonly kind: 'service';
      /** `undefined`: of any namespace. */
      readonly namespace: string | undefined;
      readonly name: string;
      /** Name or number of a port of it; `undefined` for all of them. */
      readonly port: string | undefined;
      readonly protocol: Protocol | undefined;
    }
  | {
      readonly kind: 'frontend';
      readonly address: IpAddress;
      /** `undefined`: every port. */
      readonly port: Port | undefined;
      readonly protocol: Protocol | undefined;
    };

/**
 * Reads `NAME`, `NAMESPACE/NAME`, either with `:PORT` and `/PROTOCOL` behind, or `ADDRESS` with the same; an IPv6 address that is followed by
 * a port stands in brackets. A whole name of a service port, as logs have it, is one of them; so is the name that clients dial, `NAME.NAMESPACE`
 * with or without `.svc` and a domain behind. `undefined` for anything else.
 */
export function parseTarget(text: string): Target | undefined {
  const bare = parseIpAddress(text);
  if (bare !== undefined) return { kind: 'frontend', address: bare, port: undefined, protocol: undefined };
  const [, bracketed, plain, number, word] = FRONTEND.exec(text) ?? [];
  const address = parseIpAddress(bracketed ?? plain ?? '');
  const protocol = word === undefined ? undefined : parseProtocol(word.toUpperCase());
  if (word !== undefined && protocol === undefined) return undefined;
  if (address !== undefined) {
    const port = number === undefined ? undefined : parsePort(Number(number));
    return number !== undefined && port === undefined ? undefined : { kind: 'frontend', address, port, protocol };
  }
  return parseService(text);
}

const FRONTEND = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d+)(?:\/([A-Za-z]+))?)?$/;

function parseService(text: string): Target | undefined {
  const [, before, written, port, word] = SERVICE.exec(text) ?? [];
  const [, dialled, behind] = (before === undefined && DIALLED.exec(written ?? '')) || [];
  const [namespace, name] = [before ?? behind, dialled ?? written];
  const protocol = word === undefined ? undefined : parseProtocol(word.toUpperCase());
  if (name === undefined || (word !== undefined && protocol === undefined)) return undefined;
  return { kind: 'service', namespace, name, port: port === '' && !protocol ? undefined : port, protocol };
}

/** The name of a Service has no dot. */
const DIALLED = /^([^.]+)\.([^.]+)(?:\.svc(?:\..*)?)?$/;
const SERVICE = /^(?:([^\s/:]+)\/)?([^\s/:]+)(?::([^\s/:]*)(?:\/([A-Za-z]+))?)?$/;
