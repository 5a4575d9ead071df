import { expect } from 'chai';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import { outcomes } from './dial.ts';
import { useLabCluster } from './lab-cluster.ts';
import { clusterAddress, externalAddress, nodePort, type Offer, SERVICE_PORT } from './offers.ts';
import type { Target } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const ALL_PODS = ['a1', 'a2', 'b1', 'b2'];

function sticky(name: string, number: number, timeoutSeconds: number): Offer {
  const sessionAffinityConfig = { clientIP: { timeoutSeconds } };
  return {
    name,
    number,
    type: 'NodePort',
    pods: ALL_PODS,
    spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig },
  };
}

function restricted(name: string, number: number, ranges: readonly string[]): Offer {
  return { name, number, type: 'LoadBalancer', pods: ['a1', 'b1'], spec: { loadBalancerSourceRanges: ranges } };
}

const LASTING = sticky('lasting', 31, 10_800);
const SHORT = sticky('short', 32, 2);
const BOTH = restricted('both', 41, ['192.168.0.200/32', '192.168.0.11/32', 'fd00:168::200/128', 'fd00:168::11/128']);
const ONLY_V4 = restricted('only-v4', 42, ['192.168.0.0/24', '10.180.1.0/24']);
const ONLY_V6 = restricted('only-v6', 43, ['fd00:168::/64', 'fd00:180:1::/64']);
const EVERYONE_V4 = restricted('everyone-v4', 44, ['0.0.0.0/0']);
const UNREADABLE = restricted('unreadable', 45, ['192.168.0.0/99']);
const OFFERS = [LASTING, SHORT, BOTH, ONLY_V4, ONLY_V6, EVERYONE_V4, UNREADABLE];

/** `second`: the client's second address. */
type Client = 'client' | 'second' | 'a2' | 'node-a' | 'node-b';
const CLIENTS: readonly Client[] = ['client', 'second', 'a2', 'node-a', 'node-b'];

describe('test/lab/clients', () => {
  // UDP flows that end before the affinity does: as long as one lasts, the kernel remembers its client.
  const cluster = useLabCluster(() => ['--ipvs-udp-timeout', '1s']);

  before('every Service', () => cluster().offer(...OFFERS));

  async function ask(target: Target & { readonly times?: number }): Promise<readonly string[]> {
    return outcomes(await cluster().traffic.ask(target));
  }

  describe('session affinity', () => {
    for (const family of FAMILIES) {
      it(`holds for one client over ${family}, by address and protocol, at the cluster address and the node port`, async () => {
        const places = [
          { from: 'a2', address: clusterAddress(LASTING, family), port: SERVICE_PORT },
          { from: 'client', address: nodeAddress(family), port: nodePort(LASTING) },
        ];
        for (const place of places) {
          for (const protocol of ['tcp', 'udp', 'sctp'] as const) {
            const servers = await ask({ ...place, protocol, times: 8 });
            expect(servers, `${place.from} over ${protocol}`).to.have.lengthOf(1);
            expect(ALL_PODS).to.include(servers[0]);
          }
        }
      });

      it(`tells two addresses of one machine apart over ${family}`, async () => {
        const place = { address: nodeAddress(family), port: nodePort(LASTING), protocol: 'tcp', times: 4 } as const;
        const first = await ask({ ...place, from: 'client' });
        const second = await ask({ ...place, from: 'client', source: secondAddress(family) });
        expect([first.length, second.length]).to.deep.equal([1, 1]);
        expect(second).to.not.deep.equal(first);
        expect(await ask({ ...place, from: 'client' })).to.deep.equal(first);
      });

      it(`ends over ${family} when the client was silent for longer than its timeout`, async () => {
        const address = clusterAddress(SHORT, family);
        const place = { from: 'a2', address, port: SERVICE_PORT, protocol: 'udp' } as const;
        const first = await ask({ ...place, times: 4 });
        expect(first).to.have.lengthOf(1);
        await forgotten(address);
        const second = await ask({ ...place, times: 4 });
        expect(second).to.have.lengthOf(1);
        expect(second).to.not.deep.equal(first);
      });
    }

    /** Waits until node-a has no connection or record of affinity towards an address. */
    async function forgotten(address: string): Promise<void> {
      const records = async () => {
        const lines = await cluster().lab.output('node-a', 'ipvsadm', ['-Lnc']);
        return lines.split('\n').filter((line) => line.includes(address));
      };
      await waitFor(`no record of ${address}`, records, (lines) => lines.length === 0);
    }
  });

  describe('source ranges of a load balancer', () => {
    const answered = ['a1', 'b1'];
    const dropped = ['timeout'];
    const outcomes: readonly (readonly [Offer, Readonly<Record<Family, readonly Client[]>>])[] = [
      [BOTH, { IPv4: ['client', 'node-a'], IPv6: ['client', 'node-a'] }],
      [ONLY_V4, { IPv4: ['client', 'second', 'a2', 'node-a', 'node-b'], IPv6: [] }],
      [ONLY_V6, { IPv4: [], IPv6: ['client', 'second', 'a2', 'node-a', 'node-b'] }],
      [EVERYONE_V4, { IPv4: CLIENTS, IPv6: CLIENTS }],
      [UNREADABLE, { IPv4: [], IPv6: [] }],
    ];
    for (const [offer, allowed] of outcomes) {
      for (const family of FAMILIES) {
        const ranges = offer.spec?.loadBalancerSourceRanges as readonly string[];
        it(`${ranges.join(', ')} over ${family} let in: ${allowed[family].join(', ') || 'nobody'}`, async () => {
          const told = await Promise.all(
            CLIENTS.flatMap((client) =>
              (['tcp', 'udp'] as const).map(async (protocol) => {
                const address = externalAddress(offer, family);
                const target = { ...origin(client, family), protocol, address, port: SERVICE_PORT };
                const isAllowed = allowed[family].includes(client);
                const servers = await ask({ ...target, times: isAllowed ? 6 : 1 });
                return `${client} ${protocol} ${servers.every((one) => answered.includes(one)) ? 'answered' : servers}`;
              }),
            ),
          );
          const wanted = CLIENTS.flatMap((client) =>
            ['tcp', 'udp'].map(
              (protocol) => `${client} ${protocol} ${allowed[family].includes(client) ? 'answered' : dropped}`,
            ),
          );
          expect(told).to.deep.equal(wanted);
        });
      }
    }

    it('do not close the node ports and the cluster address of the same Service', async () => {
      for (const family of FAMILIES) {
        const second = { from: 'client', source: secondAddress(family), protocol: 'tcp' } as const;
        const atNode = { ...second, address: nodeAddress(family), port: nodePort(BOTH), times: 4 };
        expect(await ask(atNode)).to.deep.equal(answered);
        const inside = { from: 'a2', protocol: 'tcp', address: clusterAddress(BOTH, family), port: 80 } as const;
        expect(await ask({ ...inside, times: 4 })).to.deep.equal(answered);
      }
    });

    function origin(client: Client, family: Family): Pick<Target, 'from' | 'source'> {
      return client === 'second' ? { from: 'client', source: secondAddress(family) } : { from: client };
    }
  });

  function nodeAddress(family: Family): string {
    return cluster().lab.node('node-a').addresses[family];
  }

  function secondAddress(family: Family): string {
    return cluster().lab.client().secondAddresses?.[family] ?? '';
  }
});
