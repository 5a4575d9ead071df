import fc from 'fast-check';
import { type Cidr, parseCidr } from '../../src/net/cidr.ts';
import type { Family } from '../../src/net/family.ts';
import { formatAddress, type IpAddress, parseIpAddress } from '../../src/net/ip-address.ts';
import { type Port, parsePort } from '../../src/net/port.ts';

/** The address, which a test knows to be one; anything else is a fault of the test. */
export function ip(text: string): IpAddress {
  return present(parseIpAddress(text), text);
}

export function cidr(text: string): Cidr {
  return present(parseCidr(text), text);
}

export function port(value: number): Port {
  return present(parsePort(value), `${value}`);
}

export const anyPort: fc.Arbitrary<Port> = fc.integer({ min: 1, max: 65535 }).map(port);

/** Every IPv4 or IPv6 address but IPv4-mapped ones, zeros being frequent. */
export function anyAddress(family: Family): fc.Arbitrary<IpAddress> {
  const byte = fc.oneof({ weight: 2, arbitrary: fc.nat(255) }, fc.constantFrom(0, 0, 0, 1, 255));
  const length = family === 'IPv4' ? 4 : 16;
  return fc
    .array(byte, { minLength: length, maxLength: length })
    .map(formatAddress)
    .filter((address) => family === 'IPv4' || !address.startsWith('::ffff:'));
}

export function anyCidr(family: Family): fc.Arbitrary<Cidr> {
  const length = fc.nat(family === 'IPv4' ? 32 : 128);
  return fc.tuple(anyAddress(family), length).map(([address, bits]) => cidr(`${address}/${bits}`));
}

function present<T>(value: T | undefined, text: string): T {
  if (value === undefined) throw new Error(`a test needs a valid value, not ${text}`);
  return value;
}
