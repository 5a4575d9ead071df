import { type RealServer, type RealServerKey, realServerKey } from './state.ts';

/** What tells one real server of a virtual server from the others. */
export type RealPlace = Pick<RealServer, 'address' | 'port'>;

/** The one of a list that stands at a place. */
export type FindReal = (place: RealPlace) => RealServer | undefined;

/** Looks in a list, whatever its length, at no more cost than its length once and a little each time. */
export function realFinder(reals: readonly RealServer[]): FindReal {
  if (reals.length <= FEW) return (place) => realAt(reals, place);
  const byKey = realsByKey(reals);
  return (place) => byKey.get(realServerKey(place));
}

/** So many are looked through one by one sooner than keys are made of them. */
const FEW = 24;

export function realsByKey(reals: readonly RealServer[]): ReadonlyMap<RealServerKey, RealServer> {
  return new Map(reals.map((real) => [realServerKey(real), real]));
}

/** For a key at hand and one list to look in. */
export function realOfKey(reals: readonly RealServer[], key: RealServerKey): RealServer | undefined {
  return reals.find((real) => realServerKey(real) === key);
}

/** For a single look. */
export function realAt(reals: readonly RealServer[], { address, port }: RealPlace): RealServer | undefined {
  return reals.find((real) => real.port === port && real.address === address);
}
