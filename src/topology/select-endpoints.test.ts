import { expect } from 'chai';
import fc from 'fast-check';
import { ip, port } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { Endpoint } from '../model/endpoint.ts';
import { chooseEndpoints, selectEndpoints } from './choose-endpoints.ts';
import { type Ruling, ruling, selectFromCluster, selectLocal } from './select-endpoints.ts';

const NODE = { name: 'node-a', zone: 'zone-a' };

describe('topology/select-endpoints', () => {
  const ready = endpoint();
  const waiting = endpoint({ ready: false, serving: false });
  const leaving = endpoint({ ready: false, serving: true, terminating: true });
  const gone = endpoint({ ready: false, serving: false, terminating: true });
  const cases: readonly {
    readonly name: string;
    readonly list: 'cluster' | 'local';
    readonly endpoints: readonly Endpoint[];
    readonly rulings: readonly Ruling[];
  }[] = [
    { name: 'one that is not ready', list: 'cluster', endpoints: [ready, waiting], rulings: ['chosen', 'not-ready'] },
    {
      name: 'those that terminate while others are ready',
      list: 'cluster',
      endpoints: [ready, leaving, gone],
      rulings: ['chosen', 'terminating', 'terminated'],
    },
    {
      name: 'those that do not serve, where nothing is ready',
      list: 'cluster',
      endpoints: [waiting, leaving, gone],
      rulings: ['not-ready', 'chosen', 'terminated'],
    },
    {
      name: 'those of other zones',
      list: 'cluster',
      endpoints: [endpoint({ zoneHints: ['zone-a'] }), endpoint({ zoneHints: ['zone-b'] }), waiting],
      rulings: ['chosen', 'hint-for-other-zone', 'not-ready'],
    },
    {
      name: 'those that are hinted for other nodes',
      list: 'cluster',
      endpoints: [endpoint({ nodeHints: ['node-a'] }), endpoint({ nodeHints: ['node-b'], zoneHints: ['zone-a'] })],
      rulings: ['chosen', 'hint-for-other-node'],
    },
    {
      name: 'those on other nodes, ready or not',
      list: 'local',
      endpoints: [endpoint({ local: true }), ready, waiting, endpoint({ ...leaving, local: true })],
      rulings: ['chosen', 'other-node', 'other-node', 'terminating'],
    },
    {
      name: 'the ready ones elsewhere, where a local one serves while it terminates',
      list: 'local',
      endpoints: [endpoint({ ...leaving, local: true }), ready],
      rulings: ['chosen', 'other-node'],
    },
  ];
  for (const { name, list, endpoints, rulings } of cases) {
    it(`leaves out ${name}`, () => {
      const selection = list === 'local' ? selectLocal(endpoints) : selectFromCluster(endpoints, NODE);
      expect(endpoints.map((each) => ruling(selection, each))).to.deep.equal(rulings);
    });
  }

  it('has a reason for exactly those that are not chosen, whatever the endpoints and policies', () => {
    const flags = fc.record({
      ready: fc.boolean(),
      serving: fc.boolean(),
      terminating: fc.boolean(),
      local: fc.boolean(),
      zoneHints: fc.constantFrom([], ['zone-a'], ['zone-b']),
      nodeHints: fc.constantFrom([], ['node-a'], ['node-b']),
    });
    const facts = fc.record({
      internalPolicyLocal: fc.boolean(),
      externalPolicyLocal: fc.boolean(),
      nodePort: fc.constantFrom(undefined, port(30080)),
    });
    fc.assert(
      fc.property(fc.array(flags, { maxLength: 6 }), facts, (list, given) => {
        const endpoints = list.map((each, index) => endpoint({ ...each, address: ip(`10.180.0.${index + 1}`) }));
        const chosen = chooseEndpoints(endpoints, servicePort(given), NODE);
        const selections = selectEndpoints(endpoints, servicePort(given), NODE);
        for (const name of ['cluster', 'local'] as const) {
          const selection = selections[name];
          const explained = selection && endpoints.filter((each) => ruling(selection, each) === 'chosen');
          expect(explained, name).to.deep.equal(chosen[name]);
          for (const each of selection ? endpoints : []) {
            const said = selection && ruling(selection, each);
            if (said === 'other-node') expect(each.local).to.equal(false);
            if (said === 'not-ready') expect([each.ready, each.terminating]).to.deep.equal([false, false]);
            if (said === 'terminating' || said === 'terminated') expect(each.terminating).to.equal(true);
            if (said === 'hint-for-other-zone') expect(each.zoneHints).to.deep.equal(['zone-b']);
            if (said === 'hint-for-other-node') expect(each.nodeHints).to.deep.equal(['node-b']);
          }
        }
      }),
    );
  });
});
