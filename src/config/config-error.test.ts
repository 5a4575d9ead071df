import { expect } from 'chai';
import { formatConfigError } from './config-error.ts';

describe('config/config-error', () => {
  it('is one line: where, which field, what', () =>
    expect(formatConfigError({ where: 'c.yaml', field: 'ipvs.syncPeriod', message: 'must be …' })).to.equal(
      'c.yaml: ipvs.syncPeriod: must be …',
    ));

  it('leaves out the field when it is about the whole document', () =>
    expect(formatConfigError({ where: 'c.yaml', field: '', message: 'line 3, column 1: …' })).to.equal(
      'c.yaml: line 3, column 1: …',
    ));
});
