import { expect } from 'chai';
import { ipvs, real, server } from '../../test/builders/kernel-states.ts';
import { ip, port } from '../../test/builders/net.ts';
import type { WantedTable, WantedTables } from '../kernel/iptables/state.ts';
import { type RealServer, realServerKey, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { Refused } from './refused.ts';
import { servedInVain, withRefusals } from './refusing-rules.ts';

describe('plan/refusing-rules', () => {
  const [gone, other] = [real('10.180.0.1'), real('10.180.0.2')];
  const drained = { ...gone, weight: 0 };
  const [wanted, none] = [(...reals: readonly RealServer[]) => ipvs(server(reals)), ipvs()];
  const key = virtualServerKey(server());
  const stuck: Refused = { kind: 'real-server', server: key, real: realServerKey(gone), change: 'edit' };
  const cases = [
    { name: 'that nobody wants and that has a real server with weight', desired: none, left: [gone], found: 1 },
    { name: 'without a real server', desired: none, left: [], found: 0 },
    { name: 'whose real servers have weight 0', desired: none, left: [drained], found: 0 },
    { name: 'that is to have none any more', desired: wanted(), left: [gone], found: 1 },
    { name: 'that is to have another one that is not there yet', desired: wanted(other), left: [gone], found: 1 },
    { name: 'that has one that is wanted too', desired: wanted(other), left: [gone, other], found: 0 },
    { name: 'whose other one is on its way out', desired: wanted({ ...other, weight: 0 }), left: [gone], found: 1 },
    { name: 'whose real server is wanted again', desired: wanted(gone), left: [gone], found: 0 },
  ] as const;
  for (const { name, desired, left, found } of cases) {
    it(`${found === 1 ? 'finds' : 'passes over'} a virtual server ${name}`, () => {
      expect(servedInVain(desired, wanted(...left), [stuck])).to.have.lengthOf(found);
    });
  }

  it('looks at no virtual server that was refused nothing', () => {
    expect(servedInVain(none, wanted(gone), [])).to.deep.equal([]);
  });

  const NO_TABLE: WantedTable = { chains: new Map(), jumps: [], obsolete: [] };
  const tables: WantedTables = {
    nat: NO_TABLE,
    filter: { ...NO_TABLE, chains: new Map([['KUBE-IPVS-FILTER', ['-j RETURN']]]) },
  };
  const refusing = (...given: Parameters<typeof withRefusals>) =>
    withRefusals(...given).filter.chains.get('KUBE-IPVS-FILTER');

  it('refuses before anything else what is new to them, over every protocol and family', () => {
    const at = { address: ip('192.168.0.10'), port: port(30080) };
    const servers = [server([], at), server([], { ...at, protocol: 'UDP' }), server([], { ...at, protocol: 'SCTP' })];
    const match = (protocol: string) => `-p ${protocol} -m conntrack --ctstate NEW --ctorigdstport 30080 -j REJECT`;
    expect(refusing(tables, servers, 'IPv4', undefined)).to.deep.equal([
      `-d 192.168.0.10/32 ${match('sctp')} --reject-with icmp-port-unreachable`,
      `-d 192.168.0.10/32 ${match('tcp')} --reject-with tcp-reset`,
      `-d 192.168.0.10/32 ${match('udp')} --reject-with icmp-port-unreachable`,
      '-j RETURN',
    ]);
    expect(refusing(tables, [server([], { ...at, address: ip('fd00::10') })], 'IPv6', undefined)).to.deep.equal([
      `-d fd00::10/128 ${match('tcp')} --reject-with tcp-reset`,
      '-j RETURN',
    ]);
  });

  it('keeps what closes them to the node itself, and nothing that closes others', () => {
    const closing = (address: string) => `-s ${address}/32 -m ipvs --vproto 6 --vaddr ${address} --vport 80 -j DROP`;
    const [stuck, other] = [server([], { address: ip('198.51.100.1') }), closing('198.51.100.2')];
    const present = { nat: new Map(), filter: new Map([['KUBE-IPVS-OUT-FILTER', [closing(stuck.address), other]]]) };
    const wanting = (...rules: readonly string[]): WantedTables => {
      const chains = new Map([...tables.filter.chains, ['KUBE-IPVS-OUT-FILTER', rules] as const]);
      return { ...tables, filter: { ...NO_TABLE, chains } };
    };
    const left = (wanted: WantedTables) =>
      withRefusals(wanted, [stuck], 'IPv4', present).filter.chains.get('KUBE-IPVS-OUT-FILTER');
    expect(left(wanting())).to.deep.equal([closing(stuck.address)]);
    expect(left(wanting(closing(stuck.address)))).to.deep.equal([closing(stuck.address)]);
    expect([...withRefusals(tables, [stuck], 'IPv4', undefined).filter.chains.keys()]).to.deep.equal([
      ...tables.filter.chains.keys(),
    ]);
  });

  it('wants the same rules where there is nobody to refuse', () => {
    expect(withRefusals(tables, [], 'IPv4', undefined)).to.equal(tables);
    const without = { nat: NO_TABLE, filter: NO_TABLE };
    expect(withRefusals(without, [server()], 'IPv4', undefined)).to.equal(without);
  });
});
