import { expect } from 'chai';
import fc from 'fast-check';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import { loadRows } from '../../test/kernel/topology-rows.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { ServicePort } from '../model/service-port.ts';
import { type ChosenEndpoints, chooseEndpoints } from './choose-endpoints.ts';

describe('topology/choose-endpoints', () => {
  describe('the table of policies, readiness and hints', () => {
    const rows = loadRows();
    for (const row of rows) {
      it(`agrees with row ${row.name}`, () => {
        const { service, node } = row;
        const chosenPort = servicePort({
          internalPolicyLocal: service.internalTrafficPolicy === 'Local',
          externalPolicyLocal: service.externalTrafficPolicy === 'Local',
          nodePort: service.externallyReachable ? port(30080) : undefined,
        });
        const endpoints = row.endpoints.map(({ address, nodeName, hints, ...conditions }) =>
          endpoint({
            ...conditions,
            address: ip(address),
            local: nodeName === node.name,
            zoneHints: hints?.forZones ?? [],
            nodeHints: hints?.forNodes ?? [],
          }),
        );
        const chosen = chooseEndpoints(endpoints, chosenPort, { name: node.name, zone: node.zone ?? undefined });
        expect(addressesOf(chosen)).to.deep.equal({
          cluster: row.expect.cluster ?? undefined,
          local: row.expect.local ?? undefined,
          reachable: row.expect.all,
          hasAny: row.expect.any,
        });
      });
    }

    it('has rows for every policy', () => {
      const policies = rows.map(({ service }) => `${service.internalTrafficPolicy} ${service.externalTrafficPolicy}`);
      expect([...new Set(policies)].sort()).to.deep.equal([
        'Cluster Cluster',
        'Cluster Local',
        'Local Cluster',
        'Local Local',
      ]);
    });
  });

  describe('worked cases on node N1 in zone A', () => {
    const plain = servicePort();
    const externalLocal = servicePort({ externalPolicyLocal: true, nodePort: port(30080) });
    const internalLocal = servicePort({ internalPolicyLocal: true });
    const cases: readonly {
      readonly name: string;
      readonly endpoints: readonly string[];
      readonly port: ServicePort;
      readonly cluster: readonly string[] | undefined;
      readonly local: readonly string[] | undefined;
      readonly reachable?: readonly string[];
      readonly hasAny: boolean;
    }[] = [
      {
        name: 'uses local and remote ready endpoints alike',
        endpoints: ['e1 110', 'e2 110 L'],
        port: plain,
        cluster: ['e1', 'e2'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'falls back to one that serves while it terminates',
        endpoints: ['e1 011', 'e2 000'],
        port: plain,
        cluster: ['e1'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'does not mix ready and terminating ones',
        endpoints: ['e1 110', 'e2 011'],
        port: plain,
        cluster: ['e1'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'has nothing when none is ready or serves',
        endpoints: ['e1 001', 'e2 000'],
        port: plain,
        cluster: [],
        local: undefined,
        hasAny: false,
      },
      {
        name: 'stays in the zone of the node',
        endpoints: ['e1 110 z=A', 'e2 110 z=B'],
        port: plain,
        cluster: ['e1'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'ignores zones when a ready endpoint has no hint',
        endpoints: ['e1 110 z=A', 'e2 110'],
        port: plain,
        cluster: ['e1', 'e2'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'ignores zones when none is for this one',
        endpoints: ['e1 110 z=B', 'e2 110 z=B'],
        port: plain,
        cluster: ['e1', 'e2'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'does not ask unready endpoints for a hint',
        endpoints: ['e1 110 z=A', 'e2 000'],
        port: plain,
        cluster: ['e1'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'prefers the node hint to the zone hint',
        endpoints: ['e1 110 z=A n=N2', 'e2 110 z=A n=N1'],
        port: plain,
        cluster: ['e2'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'goes on to the zone when no node hint is for this node',
        endpoints: ['e1 110 z=A n=N2', 'e2 110 z=B n=N3'],
        port: plain,
        cluster: ['e1'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'lets each list decide alone whether terminating ones stand in',
        endpoints: ['e1 110', 'e2 011 L'],
        port: externalLocal,
        cluster: ['e1'],
        local: ['e2'],
        reachable: ['e1', 'e2'],
        hasAny: true,
      },
      {
        name: 'has an empty local list when no local one is usable',
        endpoints: ['e1 110'],
        port: externalLocal,
        cluster: ['e1'],
        local: [],
        hasAny: true,
      },
      {
        name: 'never lets hints restrict the local list',
        endpoints: ['e1 110 z=A', 'e2 110 L z=B'],
        port: externalLocal,
        cluster: ['e1'],
        local: ['e2'],
        reachable: ['e1', 'e2'],
        hasAny: true,
      },
      {
        name: 'knows of usable endpoints that it may not reach',
        endpoints: ['e1 110'],
        port: internalLocal,
        cluster: undefined,
        local: [],
        reachable: [],
        hasAny: true,
      },
      {
        name: 'passes over hints when nothing is ready',
        endpoints: ['e1 011 z=B'],
        port: plain,
        cluster: ['e1'],
        local: undefined,
        hasAny: true,
      },
      {
        name: 'does not use one that serves but is neither ready nor terminating',
        endpoints: ['e1 010'],
        port: plain,
        cluster: [],
        local: undefined,
        hasAny: false,
      },
      {
        name: 'takes ready at its word',
        endpoints: ['e1 101'],
        port: plain,
        cluster: ['e1'],
        local: undefined,
        hasAny: true,
      },
    ];
    for (const [index, { name, endpoints, port: of, ...wanted }] of cases.entries()) {
      it(`${index + 1}: ${name}`, () => {
        const chosen = chooseEndpoints(endpoints.map(shorthand), of, { name: 'N1', zone: 'A' });
        const named = addressesOf(chosen, (address) => `e${address.slice('10.180.0.'.length)}`);
        expect(named).to.deep.equal({ reachable: wanted.cluster ?? [], ...wanted });
      });
    }
  });

  it('keeps every list a part of the input, in its order, without endpoints that cannot be used', () => {
    const flags = fc.record({
      ready: fc.boolean(),
      serving: fc.boolean(),
      terminating: fc.boolean(),
      local: fc.boolean(),
      zoneHints: fc.constantFrom([], ['A'], ['B'], ['A', 'B']),
      nodeHints: fc.constantFrom([], ['N1'], ['N2']),
    });
    const facts = fc.record({
      internalPolicyLocal: fc.boolean(),
      externalPolicyLocal: fc.boolean(),
      nodePort: fc.constantFrom(undefined, port(30080)),
    });
    fc.assert(
      fc.property(
        fc.array(flags, { maxLength: 6 }),
        facts,
        fc.constantFrom(undefined, 'A', 'C'),
        (list, given, zone) => {
          const endpoints = list.map((each, index) => endpoint({ ...each, address: ip(`10.180.0.${index + 1}`) }));
          const usable = endpoints.filter(({ ready, serving, terminating }) => ready || (serving && terminating));
          const chosen = chooseEndpoints(endpoints, servicePort(given), { name: 'N1', zone });
          for (const part of [chosen.cluster ?? [], chosen.local ?? [], chosen.reachable]) {
            expect(part).to.deep.equal(usable.filter((each) => part.includes(each)));
          }
          expect(chosen.local?.every(({ local }) => local) ?? true).to.equal(true);
          const either = [...(chosen.cluster ?? []), ...(chosen.local ?? [])];
          expect(chosen.reachable).to.have.members([...new Set(either)]);
          expect(chosen.hasAny).to.equal(usable.length > 0);
          expect(chosen.cluster === undefined || chosen.cluster.length > 0).to.equal(
            chosen.cluster === undefined || usable.length > 0,
          );
        },
      ),
    );
  });
});

/** `e1 110 L z=A n=N2`: endpoint 10.180.0.1 with ready, serving, terminating; local; its zone and node hint. */
function shorthand(text: string): Endpoint {
  const [name = '', conditions, ...rest] = text.split(' ');
  const hints = (letter: string) => rest.filter((word) => word.startsWith(`${letter}=`)).map((word) => word.slice(2));
  return endpoint({
    address: ip(`10.180.0.${name.slice(1)}`),
    ready: conditions?.[0] === '1',
    serving: conditions?.[1] === '1',
    terminating: conditions?.[2] === '1',
    local: rest.includes('L'),
    zoneHints: hints('z'),
    nodeHints: hints('n'),
  });
}

function addressesOf({ cluster, local, reachable, hasAny }: ChosenEndpoints, show = (address: string) => address) {
  const names = (list: readonly Endpoint[] | undefined) => list?.map(({ address }) => show(address));
  return { cluster: names(cluster), local: names(local), reachable: names(reachable), hasAny };
}
