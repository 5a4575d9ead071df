import { expect } from 'chai';
import { parseOptions } from './options.ts';

describe('hack/e2e/options', () => {
  it('runs everything in the lab, with all three clusters, without a flag', () => {
    const { tier, what, families, focus, skip, smoke } = parseOptions([]);
    expect({ tier, what, families, focus, skip, smoke }).to.deep.equal({
      tier: 'lab',
      what: 'run',
      families: ['ipv4', 'ipv6', 'dual'],
      focus: undefined,
      skip: undefined,
      smoke: false,
    });
  });

  it('makes the smoke set one of both families, unless one is named', () => {
    expect(parseOptions(['--smoke']).families).to.deep.equal(['dual']);
    expect(parseOptions(['--smoke', '--family', 'ipv6']).families).to.deep.equal(['ipv6']);
  });

  it('takes several families, patterns, and what to do instead of a run', () => {
    const options = parseOptions(['--family', 'ipv4,dual', '--focus', 'UDP|TCP', '--skip', '\\[Slow\\]', '--list']);
    expect(options.families).to.deep.equal(['ipv4', 'dual']);
    expect([options.focus, options.skip]).to.deep.equal([/UDP|TCP/, /\[Slow\]/]);
    expect(options.what).to.equal('list');
    expect(parseOptions(['--mutants']).what).to.equal('mutants');
  });

  const wrong = [
    { args: ['--family', 'ipv5'], says: '--family is "ipv5", but can be ipv4, ipv6, dual' },
    { args: ['--tier', 'cloud'], says: '--tier is "cloud", but can be lab or kind' },
    { args: ['--focus', '('], says: '--focus: Invalid regular expression' },
    { args: ['--jobs', '0'], says: '--jobs is "0", but has to be a number from 1 to 999' },
    { args: ['--colour'], says: "Unknown option '--colour'" },
    { args: ['smoke'], says: "Unexpected argument 'smoke'" },
  ];
  for (const { args, says } of wrong) {
    it(`refuses ${args.join(' ')}`, () => expect(() => parseOptions(args)).to.throw(says));
  }
});
