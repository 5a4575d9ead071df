import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { setsWith } from '../../test/builders/kernel-states.ts';
import { meanwhile } from './rule-inputs.ts';

describe('desired/rule-inputs', () => {
  it('keeps rules for sets that still have entries', () => {
    const observed = setsWith('IPv4', { 'EXTERNAL-IP': ['203.0.113.7,tcp:80'] });
    const { rules } = desiredFor([]);
    expect(rules.filled.has('EXTERNAL-IP')).to.equal(false);
    expect(meanwhile(rules, observed).filled.has('EXTERNAL-IP')).to.equal(true);
  });
});
