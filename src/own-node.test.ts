import { expect } from 'chai';
import { SteppedClock } from '../test/stepped-clock.ts';
import type { ClusterNode } from './model/node-view.ts';
import { parseCidr } from './net/cidr.ts';
import { parseIpAddress } from './net/ip-address.ts';
import { OwnNode } from './own-node.ts';

describe('own-node', () => {
  let clock: SteppedClock;
  let told: string[];

  beforeEach(() => {
    clock = new SteppedClock();
    told = [];
  });

  function ownNode(needsPodRanges: 'by Pod ranges' | 'otherwise' = 'otherwise'): OwnNode {
    return new OwnNode({
      clock,
      nodeName: 'node-a',
      needsPodRanges: needsPodRanges === 'by Pod ranges',
      log: {
        info: ({ missing, seconds }: { missing: string; seconds: number }) =>
          told.push(`waits ${seconds} s for ${missing}`),
        warn: (_: object, message: string) => told.push(`warns: ${message}`),
      } as never,
      ready: () => told.push('ready'),
      gaveUp: (message) => told.push(`gave up: ${message}`),
    });
  }

  function node({ addresses = ['192.168.0.10'], podCIDRs = ['10.180.1.0/24'] } = {}): ClusterNode {
    return {
      name: 'node-a',
      zone: undefined,
      addresses: addresses.flatMap((text) => parseIpAddress(text) ?? []),
      podCIDRs: podCIDRs.flatMap((text) => parseCidr(text) ?? []),
    };
  }

  it('waits for nothing where the Node is among the first lists', () => {
    const own = ownNode();
    own.seen(node());
    expect(told).to.deep.equal([]);
    own.listed();
    expect(told).to.deep.equal(['ready']);
    expect(clock.pending()).to.deep.equal([]);
  });

  it('R120: waits without a limit while the API server is away, and goes on with the Node that comes late', async () => {
    const own = ownNode();
    await clock.advance(3_600_000);
    expect(told).to.deep.equal([]);
    own.listed();
    await clock.advance(29_999);
    own.seen(node());
    expect(told).to.deep.equal(['waits 30 s for the Node itself', 'ready']);
    await clock.advance(600_000);
    expect(told).to.have.lengthOf(2);
  });

  it('R120: gives up on a Node that never appears, with its name and the cause', async () => {
    const own = ownNode();
    own.listed();
    await clock.advance(29_999);
    expect(told).to.deep.equal(['waits 30 s for the Node itself']);
    await clock.advance(1);
    expect(told.slice(1)).to.deep.equal([
      'gave up: Node "node-a" is not known to the API server after 30 s; the name is the host name unless --hostname-override or hostnameOverride gives another',
    ]);
    own.seen(node());
    await clock.advance(600_000);
    expect(told).to.have.lengthOf(2);
  });

  it('goes on without addresses after a while, and says so', async () => {
    const own = ownNode();
    own.seen(node({ addresses: [] }));
    own.listed();
    await clock.advance(30_000);
    expect(told).to.deep.equal([
      'waits 30 s for its addresses',
      'warns: own Node has no address; it is served without one',
      'ready',
    ]);
  });

  it('goes on as soon as a Node without addresses has some', () => {
    const own = ownNode();
    own.seen(node({ addresses: [] }));
    own.listed();
    own.seen(node());
    expect(told.at(-1)).to.equal('ready');
  });

  it('does not ask for Pod ranges where local traffic is told otherwise', () => {
    const own = ownNode();
    own.seen(node({ podCIDRs: [] }));
    own.listed();
    expect(told).to.deep.equal(['ready']);
  });

  it('waits longer where local traffic is told by Pod ranges, and gives up with a message of its own', async () => {
    const own = ownNode('by Pod ranges');
    own.listed();
    await clock.advance(200_000);
    own.seen(node({ podCIDRs: [] }));
    await clock.advance(99_999);
    expect(told).to.deep.equal(['waits 300 s for the Node itself']);
    await clock.advance(1);
    expect(told.slice(1)).to.deep.equal([
      'gave up: Node "node-a" has no Pod range after 300 s, which detectLocalMode NodeCIDR needs; is --allocate-node-cidrs of kube-controller-manager on?',
    ]);
  });

  it('goes on with Pod ranges that come late', async () => {
    const own = ownNode('by Pod ranges');
    own.seen(node({ podCIDRs: [] }));
    own.listed();
    await clock.advance(299_000);
    own.seen(node());
    expect(told.at(-1)).to.equal('ready');
  });

  it('does not wait longer for addresses because of Pod ranges', async () => {
    const own = ownNode('by Pod ranges');
    own.seen(node({ addresses: [] }));
    own.listed();
    await clock.advance(30_000);
    expect(told.at(-1)).to.equal('ready');
  });

  it('is silent once it is stopped', async () => {
    const own = ownNode();
    own.listed();
    own.stop();
    own.seen(node());
    await clock.advance(600_000);
    expect(told).to.have.lengthOf(1);
    expect(clock.pending()).to.deep.equal([]);
  });
});
