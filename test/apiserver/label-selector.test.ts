import { expect } from 'chai';
import { parseLabelSelector } from './label-selector.ts';

describe('test/apiserver/label-selector', () => {
  const labels = { app: 'cart', tier: 'web' };
  const cases: readonly [selector: string, chosen: boolean][] = [
    ['', true],
    ['app=cart', true],
    ['app==cart', true],
    ['app = cart', true],
    ['app=shop', false],
    ['app!=shop', true],
    ['app!=cart', false],
    ['zone!=a', true],
    ['app', true],
    ['zone', false],
    ['!zone', true],
    ['!app', false],
    ['app in (shop, cart)', true],
    ['app in (shop)', false],
    ['app notin (shop,other),tier', true],
    ['app notin (cart)', false],
    ['zone notin (a)', true],
    ['!service.kubernetes.io/service-proxy-name,!service.kubernetes.io/headless', true],
    ['app=cart,tier=db', false],
  ];
  for (const [selector, chosen] of cases) {
    it(`${chosen ? 'chooses' : 'leaves out'} app=cart, tier=web by '${selector}'`, () => {
      const parsed = parseLabelSelector(selector);
      expect(parsed.ok && parsed.value(labels)).to.equal(chosen);
    });
  }

  it('refuses what it cannot read with 400', () => {
    const parsed = parseLabelSelector('app in cart');
    expect(parsed).to.deep.include({ ok: false });
    expect(!parsed.ok && parsed.error.code).to.equal(400);
  });
});
