import { DUMMY_INTERFACE } from '../kernel/dummy/state.ts';

/** An address that has come to an interface, or gone from it. */
export interface AddressEvent {
  readonly kind: 'present' | 'gone';
  /** Interface, address and length, e.g. `eth0 192.168.0.200/24`: the same for both kinds. */
  readonly subject: string;
}

/**
 * One line of `ip -o monitor address`. `ignored`: addresses of Services, and those for the link alone, which every interface of a Pod has;
 * `undefined`: something else, such as a fault of the tool.
 */
export function parseAddressEvent(line: string): AddressEvent | 'ignored' | undefined {
  const [, deleted, name, address = ''] =
    /^(Deleted )?\d+: (\S+)\s+inet6? ([0-9a-f.:]+(?: peer \S+|\/\d+))/.exec(line) ?? [];
  if (name === undefined) return undefined;
  if (name === DUMMY_INTERFACE || /^fe[89ab][0-9a-f]:/.test(address)) return 'ignored';
  return { kind: deleted === undefined ? 'present' : 'gone', subject: `${name} ${address}` };
}
