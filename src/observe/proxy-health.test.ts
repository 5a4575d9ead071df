import { expect } from 'chai';
import { FAMILIES } from '../net/family.ts';
import { ProxyHealth } from './proxy-health.ts';

describe('observe/proxy-health', () => {
  let nowMs: number;

  beforeEach(() => {
    nowMs = 0;
  });

  function newHealth(rule: 'strict' | 'kube-proxy'): ProxyHealth {
    return new ProxyHealth({
      families: FAMILIES,
      staleAfterMs: 60_000,
      rule,
      wallMs: () => 1000 + nowMs,
      nowMs: () => nowMs,
    });
  }

  function bothEnd(health: ProxyHealth, how: 'succeeded' | 'failed'): void {
    for (const family of FAMILIES) health.ended(family, how);
  }

  it('is late when a pass has been asked for and none has succeeded for the whole time; asking again does not help', () => {
    const health = newHealth('kube-proxy');
    health.started();
    health.queued();
    nowMs = 59_999;
    health.queued();
    expect(health.read('healthy').healthy).to.equal(true);
    nowMs = 60_000;
    expect(health.read('healthy').healthy).to.equal(false);
    bothEnd(health, 'succeeded');
    expect(health.read('healthy').healthy).to.equal(true);
  });

  it('is never late before passes have begun, nor while nobody asks', () => {
    const health = newHealth('kube-proxy');
    health.queued();
    nowMs = 1e9;
    expect(health.read('healthy').healthy).to.equal(true);
    const idle = newHealth('strict');
    idle.started();
    bothEnd(idle, 'succeeded');
    nowMs = 2e9;
    expect(idle.read('healthy').healthy).to.equal(true);
  });

  it('asks again by itself for a pass that failed', () => {
    const health = newHealth('kube-proxy');
    health.started();
    bothEnd(health, 'failed');
    nowMs = 60_000;
    expect(health.read('live').healthy).to.equal(false);
  });

  it('is as bad as its worst family', () => {
    const health = newHealth('strict');
    health.started();
    health.ended('IPv4', 'succeeded');
    const { healthy, families } = health.read('healthy');
    expect(healthy).to.equal(false);
    expect([...families].map(([family, reading]) => [family, reading.healthy])).to.deep.equal([
      ['IPv4', true],
      ['IPv6', false],
    ]);
  });

  it('bears one failure and not two in a row under the strict rule, and any number for a while under the other', () => {
    const [strict, lax] = [newHealth('strict'), newHealth('kube-proxy')];
    const judgedAfter = (how: 'succeeded' | 'failed') => {
      for (const health of [strict, lax]) bothEnd(health, how);
      return [strict.read('healthy').healthy, strict.read('live').healthy, lax.read('healthy').healthy];
    };
    for (const health of [strict, lax]) health.started();
    expect(judgedAfter('succeeded')).to.deep.equal([true, true, true]);
    expect(judgedAfter('failed')).to.deep.equal([true, true, true]);
    expect(judgedAfter('succeeded')).to.deep.equal([true, true, true]);
    expect(judgedAfter('failed')).to.deep.equal([true, true, true]);
    expect(judgedAfter('failed')).to.deep.equal([false, true, true]);
    expect(judgedAfter('succeeded')).to.deep.equal([true, true, true]);
  });

  it('tells the newest time of all families, and nothing before the first', () => {
    const health = newHealth('strict');
    expect(health.read('healthy')).to.deep.equal({ healthy: false, families: new Map(), lastUpdatedMs: undefined });
    health.started();
    nowMs = 5;
    health.ended('IPv6', 'succeeded');
    const { lastUpdatedMs, families } = health.read('healthy');
    expect([lastUpdatedMs, families.get('IPv4')?.lastUpdatedMs]).to.deep.equal([1005, 1000]);
  });

  it('takes a node for eligible that is known and stays', () => {
    const health = newHealth('strict');
    expect(health.isNodeEligible).to.equal(false);
    const seen = [{}, { leaving: 'scale-down' }, {}, { leaving: 'deletion' }, undefined].map((node) => {
      health.node(node);
      return health.isNodeEligible;
    });
    expect(seen).to.deep.equal([true, false, true, false, false]);
  });
});
