import { expect } from 'chai';
import { ip } from '../../test/builders/net.ts';
import { ClosingAddresses } from './closing-addresses.ts';

describe('sync/closing-addresses', () => {
  const [cart, shop] = [ip('172.20.1.1'), ip('172.20.1.2')];

  it('keeps an address whose connections are cut for its time, from when it began', () => {
    const closing = new ClosingAddresses(30_000);
    expect([closing.stays(cart, true, 0), closing.stays(cart, false, 0)]).to.deep.equal([true, false]);
    closing.begin([cart], 1000);
    closing.begin([cart], 20_000);
    const kept = [1000, 30_999, 31_000].map((nowMs) => closing.stays(cart, false, nowMs));
    expect(kept).to.deep.equal([true, true, false]);
    expect(closing.stays(cart, true, 31_000)).to.equal(false);
  });

  it('keeps none where there is no time for it', () =>
    expect(new ClosingAddresses(0).stays(cart, true, 0)).to.equal(false));

  it('tells when the first has had its time, and which have', () => {
    const closing = new ClosingAddresses(30_000);
    expect(closing.untilDueMs(0)).to.equal(undefined);
    closing.begin([cart], 0);
    closing.begin([shop], 10_000);
    expect([closing.untilDueMs(10_000), closing.untilDueMs(35_000)]).to.deep.equal([20_000, 0]);
    expect(closing.due(30_000)).to.deep.equal({
      servers: new Set(),
      addresses: new Set([cart]),
      entries: new Set([cart]),
      rules: false,
    });
  });

  it("takes away before its time what is somebody else's by now", () => {
    const closing = new ClosingAddresses(30_000);
    closing.begin([cart, shop], 0);
    expect([...closing.due(1, (address) => address === shop).addresses]).to.deep.equal([shop]);
  });

  it('forgets what a pass has not left, of what the pass was about', () => {
    const closing = new ClosingAddresses(30_000);
    closing.begin([cart, shop], 0);
    closing.passed(new Set([cart]), new Set());
    expect([closing.count, closing.stays(cart, false, 1), closing.stays(shop, false, 1)]).to.deep.equal([
      1,
      false,
      true,
    ]);
    closing.passed('everything', new Set([shop]));
    expect(closing.count).to.equal(1);
    closing.passed('everything', new Set());
    expect(closing.untilDueMs(1)).to.equal(undefined);
  });
});
