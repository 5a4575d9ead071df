import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import type { IpAddress } from '../net/ip-address.ts';
import { checkApiServer } from './check-api-server.ts';
import type { ApiServerFacts, NodeFacts } from './facts.ts';
import { dummy, HEALTHY, inShort, ipvs, link } from './facts-fixture.ts';

describe('doctor/check-api-server', () => {
  const at = (
    address: string,
    connection: ApiServerFacts['connection'] = succeed(undefined),
    credentials: ApiServerFacts['credentials'] = 'given',
  ) =>
    succeed({
      url: `https://${address}:443`,
      addresses: succeed([address as IpAddress]),
      connection,
      credentials,
    });
  const programmed = {
    links: succeed([link('eth0', ['192.168.0.10/24']), dummy(['10.96.0.1/32'])]),
    ipvs: succeed(ipvs(['TCP  C0A8000A:7530 rr ', 'TCP  0A600002:01BB rr '])),
  };
  const cases: readonly (readonly [name: string, Partial<NodeFacts>, readonly string[]])[] = [
    ['finds nothing where it is reached directly', { ...programmed, apiServer: at('192.168.0.1') }, []],
    [
      'names an address that the node itself has to program',
      { ...programmed, apiServer: at('10.96.0.1') },
      ['error api-through-service'],
    ],
    [
      'sees that also where the address is not bound',
      { ...programmed, apiServer: at('10.96.0.2') },
      ['error api-through-service'],
    ],
    [
      'does not take the address of the node for one, whatever node ports it has',
      { ...programmed, apiServer: at('192.168.0.10') },
      [],
    ],
    [
      'names one that does not answer',
      { apiServer: at('192.168.0.1', fail('ECONNREFUSED')) },
      ['error api-unreachable'],
    ],
    [
      'warns where there are no credentials',
      { apiServer: at('192.168.0.1', succeed(undefined), 'none') },
      ['warning api-anonymous'],
    ],
    ['says so where nobody says where it is', { apiServer: succeed(undefined) }, ['not checked: the API server']],
    [
      'says so of a kubeconfig that leads nowhere',
      { apiServer: fail('no such file') },
      ['not checked: the API server'],
    ],
  ];
  for (const [name, facts, expected] of cases) {
    it(name, () => expect(inShort(checkApiServer({ ...HEALTHY, ...facts }))).to.deep.equal(expected));
  }
});
