import { expect } from 'chai';
import type { FlagType } from './flag.ts';
import { flagOfField, givenFlags, readFlag, withFlags } from './flag-values.ts';
import { FLAGS } from './flags.ts';

describe('config/flag-values', () => {
  const cases: [type: FlagType, value: unknown, expected: unknown][] = [
    ['bool', 'true', true],
    ['bool', 'F', false],
    ['bool', '1', true],
    ['bool', false, false],
    ['bool', 'yes', 'yes'],
    ['int', '-999', -999],
    ['int', 5, 5],
    ['int', '5.0', '5.0'],
    ['int', '', ''],
    ['float', '2.5', 2.5],
    ['float', '', ''],
    ['float', 'fast', 'fast'],
    ['text', ['a', 'b'], 'b'],
    ['duration', '30s', '30s'],
    ['list', 'a, b', ['a', 'b']],
    ['list', ['a,b', 'c'], ['a', 'b', 'c']],
    ['list', '', []],
    ['map', 'A=true,B=false', { A: true, B: false }],
    ['map', ['A=true', 'A=false,B=x'], { A: false, B: 'x' }],
    ['map', { A: true }, { A: true }],
    ['map', '', {}],
    ['map', 'A', { A: '' }],
  ];
  for (const [type, value, expected] of cases) {
    it(`reads ${JSON.stringify(value)} of type ${type} as ${JSON.stringify(expected)}`, () =>
      expect(readFlag({ type }, value)).to.deep.equal(expected));
  }

  it('finds the given flags of a kind, and no others', () => {
    const given = { v: 1, config: 'x', 'ipvs-scheduler': 'rr', 'ipvs-strict-arp': undefined, unknown: 1 };
    expect(givenFlags(given, ['setting', 'logging']).map(({ name }) => name)).to.deep.equal(['ipvs-scheduler', 'v']);
  });

  it('puts values into the fields they stand for', () => {
    const given = { 'ipvs-scheduler': 'rr', v: '3', master: 'x' };
    const flags = givenFlags(given, ['setting', 'logging', 'override']);
    expect(withFlags({ ipvs: { strictARP: true } }, flags, given)).to.deep.equal({
      ipvs: { strictARP: true, scheduler: 'rr' },
      logging: { verbosity: 3 },
    });
  });

  it('finds the flag behind a field and its entries', () => {
    const name = (field: string) => flagOfField(field, FLAGS)?.name;
    expect(name('nodePortAddresses[1]')).to.equal('nodeport-addresses');
    expect(name('featureGates.AllAlpha')).to.equal('feature-gates');
    expect(name('mode')).to.equal('proxy-mode');
    expect(name('modes')).to.equal(undefined);
  });
});
