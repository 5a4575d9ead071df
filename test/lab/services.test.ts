import { expect } from 'chai';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import { frontend } from './dial.ts';
import { useLabCluster } from './lab-cluster.ts';
import type { Offer } from './offers.ts';
import { KINDS, type Path, type Seen } from './service-kinds.ts';
import type { LabHost } from './topology.ts';
import type { TrafficProtocol } from './traffic.ts';

describe('test/lab/services', () => {
  const cluster = useLabCluster();

  before('every Service', () => cluster().offer(...KINDS.map(({ offer }) => offer)));

  for (const { title, offer, paths } of KINDS) {
    describe(title, () => {
      for (const one of paths) it(sentence(one), () => follow(offer, one));
    });
  }

  /** Both families and every protocol at once: each of them has a virtual server, and so a turn, of its own. */
  async function follow(offer: Offer, path: Path): Promise<void> {
    const protocols = path.outcome === 'refused' ? (['tcp', 'udp'] as const) : (['tcp', 'udp', 'sctp'] as const);
    const kinds = FAMILIES.flatMap((family) => protocols.map((protocol) => ({ family, protocol })));
    const told = await Promise.all(kinds.map(({ family, protocol }) => ask(offer, path, family, protocol)));
    expect(told).to.deep.equal(kinds.map(({ family, protocol }) => expected(path, family, protocol)));
  }

  async function ask(offer: Offer, { from, at, outcome }: Path, family: Family, protocol: TrafficProtocol) {
    // One is enough where every exchange takes its time.
    const times = typeof outcome === 'string' ? 1 : 4;
    const { lab, traffic } = cluster();
    // An SCTP association that loses its first packet on a busy machine begins anew after 3 s, and then after 6 s more.
    const patienceMs = typeof outcome === 'string' ? {} : { patienceMs: 25_000 };
    const target = { from, protocol, ...frontend(lab, offer, at, family), times, ...patienceMs };
    const { answers, troubles } = await traffic.ask(target);
    return [family, protocol, ...[...answers.keys(), ...troubles.keys()].sort()].join(' | ');
  }

  function expected(path: Path, family: Family, protocol: TrafficProtocol): string {
    const { from, outcome } = path;
    if (outcome === 'dropped') return [family, protocol, 'timeout'].join(' | ');
    // A process of the node is told of it when it sends, by the system call.
    const refusal = protocol === 'udp' && host(from)?.kind === 'node' ? 'forbidden' : 'refused';
    if (outcome === 'refused') return [family, protocol, refusal].join(' | ');
    const answers = Object.entries(outcome).map(([pod, seen]) => `${pod} ${sourceSeenBy(pod, seen, path, family)}`);
    return [family, protocol, ...answers.sort()].join(' | ');
  }

  /** A node sends with its address on the way: that of the pods' gateway to its own pods, else that of its network. */
  function sourceSeenBy(name: string, seen: Seen, { from, at }: Path, family: Family): string {
    if (seen === 'client') return host(from)?.addresses[family] ?? '';
    const asker = host(from);
    const through = host(at)?.name ?? (asker?.kind === 'client' ? 'node-a' : (asker?.node ?? from));
    const number = through === 'node-a' ? 1 : 2;
    if (host(name)?.node === through) return family === 'IPv4' ? `10.180.${number}.1` : `fd00:180:${number}::1`;
    return host(through)?.addresses[family] ?? '';
  }

  function host(name: string): LabHost | undefined {
    const { lab } = cluster();
    return [...lab.nodes, ...lab.pods, lab.client()].find((one) => one.name === name);
  }
});

function sentence({ from, at, outcome }: Path): string {
  const where = at === 'cluster' || at === 'external' ? `the ${at} address` : `the node port of ${at}`;
  const start = `${from} at ${where}`;
  if (typeof outcome === 'string') return `${start} is ${outcome}`;
  const answers = Object.entries(outcome).map(([pod, seen]) => `${pod}, which sees the ${seen}`);
  return `${start} is answered by ${answers.join(', and by ')}`;
}
