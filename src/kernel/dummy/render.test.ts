import { expect } from 'chai';
import { ip } from '../../../test/builders/net.ts';
import type { DummyStep } from './diff.ts';
import { renderDummyState, renderDummyStep, renderDummySteps } from './render.ts';

describe('kernel/dummy/render', () => {
  const steps: readonly (readonly [DummyStep, string])[] = [
    [{ kind: 'create-interface' }, 'link add kube-ipvs0 type dummy'],
    [{ kind: 'bind-address', address: ip('172.20.1.1') }, 'address replace 172.20.1.1/32 dev kube-ipvs0'],
    [{ kind: 'bind-address', address: ip('fd00::1') }, 'address replace fd00::1/128 dev kube-ipvs0'],
    [{ kind: 'unbind-address', address: ip('172.20.1.1') }, 'address delete 172.20.1.1/32 dev kube-ipvs0'],
    [{ kind: 'unbind-address', address: ip('fd00::1') }, 'address delete fd00::1/128 dev kube-ipvs0'],
  ];
  for (const [step, line] of steps) {
    it(`writes ${line}`, () => expect(renderDummyStep(step)).to.equal(line));
  }

  it('writes a whole state as the interface and its addresses, sorted', () => {
    const addresses = new Set(['fd00::1', '172.20.1.2', '172.20.1.1'].map(ip));
    expect(renderDummyState({ exists: true, addresses })).to.equal(
      `link add kube-ipvs0 type dummy
address replace 172.20.1.1/32 dev kube-ipvs0
address replace 172.20.1.2/32 dev kube-ipvs0
address replace fd00::1/128 dev kube-ipvs0
`,
    );
  });

  it('writes nothing for nothing', () => {
    expect(renderDummyState({ exists: false, addresses: new Set() })).to.equal('');
    expect(renderDummySteps([])).to.equal('');
  });
});
