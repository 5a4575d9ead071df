import { expect } from 'chai';
import { parseStanding } from './parse-standing.ts';

describe('kernel/ipvs/parse-standing', () => {
  const any = { has: () => true };

  it('reads weight and connections of each real server', () => {
    const read = parseStanding(
      'TCP  0A600047:0050 rr  \n  -> 0AB4010B:1F90      Masq    1      2          3         \n  -> 0AB4020B:1F90      Masq    0      1          0         ',
      any,
    );
    expect(read?.key).to.equal('TCP 10.96.0.71:80');
    expect([...(read?.reals ?? [])]).to.deep.equal([
      ['10.180.1.11:8080', { weight: 1, active: 2, inactive: 3 }],
      ['10.180.2.11:8080', { weight: 0, active: 1, inactive: 0 }],
    ]);
  });

  it('reads a virtual server of IPv6 without real servers', () => {
    const read = parseStanding('UDP  [fd00:0096:0000:0000:0000:0000:0000:0010]:0035 rr ', any);
    expect([read?.key, read?.reals.size]).to.deep.equal(['UDP [fd00:96::10]:53', 0]);
  });

  it('passes over what is not wanted', () =>
    expect(parseStanding('TCP  0A600047:0050 rr ', new Set())).to.equal(undefined));

  it('passes over marks', () => expect(parseStanding('FWM  00000001 rr ', any)).to.equal(undefined));
});
