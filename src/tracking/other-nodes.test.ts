import { expect } from 'chai';
import { ip } from '../../test/builders/net.ts';
import { OtherNodes } from './other-nodes.ts';

describe('tracking/other-nodes', () => {
  let nodes: OtherNodes;
  const list = (...texts: readonly string[]) => texts.map(ip);
  const put = (...texts: readonly string[]) => nodes.recordOther([], list(...texts));
  const known = () => [...nodes.addresses()].sort();

  beforeEach(() => {
    nodes = new OtherNodes();
  });

  it('knows nothing at first', () => expect(known()).to.deep.equal([]));

  it('knows the addresses of Nodes that come, change and go', () => {
    expect(put('192.168.0.11', 'fd00:168::11')).to.equal(true);
    expect(put('192.168.0.12')).to.equal(true);
    expect(nodes.recordOther(list('192.168.0.12'), list('192.168.0.13'))).to.equal(true);
    expect(known()).to.deep.equal(['192.168.0.11', '192.168.0.13', 'fd00:168::11']);
    expect(nodes.recordOther(list('192.168.0.11', 'fd00:168::11'), [])).to.equal(true);
    expect(known()).to.deep.equal(['192.168.0.13']);
  });

  it('keeps the object as long as the addresses stay', () => {
    put('192.168.0.11');
    const first = nodes.addresses();
    expect(nodes.recordOther(list('192.168.0.11'), list('192.168.0.11'))).to.equal(false);
    expect(nodes.addresses()).to.equal(first);
    put('192.168.0.12');
    expect(nodes.addresses()).to.not.equal(first);
    expect([...first]).to.deep.equal(['192.168.0.11']);
  });

  it('keeps the object when a Node is made anew with the addresses that it had', () => {
    put('192.168.0.11');
    const first = nodes.addresses();
    nodes.recordOther(list('192.168.0.11'), []);
    put('192.168.0.11');
    expect(nodes.addresses()).to.equal(first);
  });

  it('keeps an address until the last Node that has it goes', () => {
    put('203.0.113.1');
    expect(put('203.0.113.1')).to.equal(false);
    expect(nodes.recordOther(list('203.0.113.1'), [])).to.equal(false);
    expect(known()).to.deep.equal(['203.0.113.1']);
    expect(nodes.recordOther(list('203.0.113.1'), [])).to.equal(true);
    expect(known()).to.deep.equal([]);
  });

  it('counts an address once that one Node has twice', () => {
    put('192.168.0.11', '192.168.0.11');
    expect(nodes.recordOther(list('192.168.0.11', '192.168.0.11'), list('192.168.0.11'))).to.equal(false);
    expect(known()).to.deep.equal(['192.168.0.11']);
  });

  it('leaves out what the own Node has, whichever is known first', () => {
    nodes.recordOwn(list('192.168.0.10', '203.0.113.1'));
    expect(put('203.0.113.1')).to.equal(false);
    put('192.168.0.11');
    expect(known()).to.deep.equal(['192.168.0.11']);
    nodes.recordOwn(list('192.168.0.10', '192.168.0.11'));
    expect(known()).to.deep.equal(['203.0.113.1']);
  });

  it('keeps the object when the own Node changes in what no other Node has', () => {
    nodes.recordOwn(list('192.168.0.10'));
    put('192.168.0.11');
    const first = nodes.addresses();
    nodes.recordOwn(list('192.168.0.10', '10.0.0.1'));
    expect(nodes.addresses()).to.equal(first);
  });

  it('keeps up with thousands of Nodes that come one by one', () => {
    const address = (n: number) => `10.1.${n >> 8}.${n & 255}`;
    for (let n = 0; n < 5000; n += 1) put(address(n));
    for (let n = 0; n < 4999; n += 1) nodes.recordOther(list(address(n)), []);
    expect(known()).to.deep.equal([address(4999)]);
  });
});
