import { expect } from 'chai';
import { describeProblem } from './problem.ts';

describe('model/problem', () => {
  it('describes a problem with the field it is about, or of the whole object', () => {
    expect(describeProblem({ object: 'Service shop/cart', field: 'spec.ports', message: 'has no port' })).to.equal(
      'Service shop/cart: spec.ports: has no port',
    );
    expect(describeProblem({ object: 'a.yaml', field: '', message: 'cannot be read' })).to.equal(
      'a.yaml: cannot be read',
    );
  });
});
