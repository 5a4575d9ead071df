import { expect } from 'chai';
import { PROTOCOLS, parseProtocol, protocolNumber } from './protocol.ts';

describe('net/protocol', () => {
  it('knows the three protocols of Services by the API spelling', () => {
    expect(PROTOCOLS.map(parseProtocol)).to.deep.equal(['TCP', 'UDP', 'SCTP']);
  });

  for (const value of ['tcp', 'Tcp', 'ICMP', '', 'TCP ', 6, undefined, null]) {
    it(`refuses ${JSON.stringify(value)}`, () => expect(parseProtocol(value)).to.equal(undefined));
  }

  it('gives the numbers that IANA assigned', () => {
    expect(PROTOCOLS.map(protocolNumber)).to.deep.equal([6, 17, 132]);
  });
});
