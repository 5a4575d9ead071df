import { expect } from 'chai';
import { ip, port } from '../../../test/builders/net.ts';
import { diffFlows } from './diff.ts';
import { type FlowEnd, type FlowEndKey, flowEndKey, type UdpFlow } from './state.ts';

describe('kernel/conntrack/diff', () => {
  const end = (text: string): FlowEnd => {
    const [address = '', number = ''] = text.split(':');
    return { address: ip(address), port: port(Number(number)) };
  };
  const flow = (to: string, answeredBy: string): UdpFlow => ({ to: end(to), answeredBy: end(answeredBy) });
  const dns = '172.20.1.1:53';
  const targets = new Map([
    [dns as FlowEndKey, new Set(['10.180.0.1:5353' as FlowEndKey])],
    ['172.20.1.2:53' as FlowEndKey, new Set<FlowEndKey>()],
  ]);

  const cases: readonly (readonly [name: string, flows: readonly UdpFlow[], stale: readonly string[]])[] = [
    ['leaves flows to endpoints that may answer', [flow(dns, '10.180.0.1:5353')], []],
    ['leaves flows to other addresses and ports, whoever answers', [flow('172.20.1.1:54', '10.180.9.9:54')], []],
    ['ends flows that somebody else answers', [flow(dns, '10.180.0.2:5353')], [`${dns} 10.180.0.2:5353 1`]],
    ['ends flows to another port of an endpoint', [flow(dns, '10.180.0.1:53')], [`${dns} 10.180.0.1:53 1`]],
    ['ends flows that were never sent on to an endpoint', [flow(dns, dns)], [`${dns} ${dns} 1`]],
    [
      'ends every flow to a frontend that nobody may answer, whoever does',
      [flow('172.20.1.2:53', '10.180.0.1:5353'), flow('172.20.1.2:53', '172.20.1.2:53')],
      ['172.20.1.2:53 anyone 2'],
    ],
    [
      'joins flows with the same two ends, the most first',
      ['10.180.0.3:53', '10.180.0.4:53', '10.180.0.4:53', '10.180.0.2:53'].map((answerer) => flow(dns, answerer)),
      [`${dns} 10.180.0.4:53 2`, `${dns} 10.180.0.2:53 1`, `${dns} 10.180.0.3:53 1`],
    ],
  ];
  for (const [name, flows, stale] of cases) {
    it(name, () => {
      const found = diffFlows(flows, targets);
      expect(
        found.map(
          ({ to, answeredBy, count }) => `${flowEndKey(to)} ${answeredBy ? flowEndKey(answeredBy) : 'anyone'} ${count}`,
        ),
      ).to.deep.equal(stale);
    });
  }
});
