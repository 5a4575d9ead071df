import { DUMMY_INTERFACE, type DummyState } from '../kernel/dummy/state.ts';
import type { Belongings } from './belongings.ts';
import type { Change } from './change.ts';

type AddressChange = Omit<Change, 'tool' | 'family'>;

/** What differs between the dummy interface as it is and as a pass leaves it. */
export function addressChanges(before: DummyState, now: DummyState, owned: Belongings): readonly AddressChange[] {
  const made: readonly AddressChange[] =
    now.exists && !before.exists
      ? [{ action: 'add', thing: `interface ${DUMMY_INTERFACE}`, services: [], why: '' }]
      : [];
  return [
    ...made,
    ...[...before.addresses.symmetricDifference(now.addresses)].sort().map((address) => {
      const services = owned.ofAddress(address);
      return now.addresses.has(address)
        ? ({ action: 'add', thing: addressThing(address), services, why: '' } as const)
        : ({ action: 'remove', thing: addressThing(address), services, why: 'no Service has it' } as const);
    }),
  ];
}

/** `address 172.20.1.1 on kube-ipvs0` */
export function addressThing(address: string): string {
  return `address ${address} on ${DUMMY_INTERFACE}`;
}
