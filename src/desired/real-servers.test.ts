import { expect } from 'chai';
import { ip } from '../../test/builders/net.ts';
import { endpoint } from '../../test/builders/objects.ts';
import type { Endpoint } from '../model/endpoint.ts';
import { realServersFor } from './real-servers.ts';
import type { Behaviour } from './settings.ts';

describe('desired/real-servers', () => {
  const remote = endpoint({ address: ip('10.180.1.1') });
  const local = endpoint({ address: ip('10.180.0.1'), local: true });
  const weights = { ready: 10, readyNotServing: 5, notReady: 0 };

  const stands: readonly (readonly [string, Parameters<typeof realServersFor>[0], Behaviour, readonly string[]])[] = [
    ['at an outside address', { kind: 'load-balancer', policyLocal: true }, 'documented', ['10.180.1.1']],
    ['at an outside address', { kind: 'node-port', policyLocal: true }, 'kube-proxy', ['10.180.1.1']],
    ['nowhere at the cluster address', { kind: 'cluster', policyLocal: true }, 'documented', []],
    ['even at the cluster address', { kind: 'cluster', policyLocal: true }, 'kube-proxy', ['10.180.1.1']],
  ];
  for (const [name, front, behaviour, expected] of stands) {
    it(`has cluster endpoints stand in for missing local ones ${name} under ${behaviour}`, () => {
      const chosen = { cluster: [remote], local: [], reachable: [remote], hasAny: true };
      const found = realServersFor(front, chosen, [remote], { behaviour, weights: undefined });
      expect(found.map(({ address }) => address)).to.deep.equal(expected);
    });
  }

  const sorts: readonly (readonly [string, Partial<Endpoint>, number | undefined])[] = [
    ['ready and serving', {}, 10],
    ['ready without serving', { serving: false }, 5],
    ['ready although it terminates', { terminating: true }, 10],
    ['not ready', { ready: false, serving: false }, 0],
    ['not ready though serving', { ready: false }, 0],
    ['terminating and serving, beside a ready one', { ready: false, terminating: true }, undefined],
    ['terminating and not serving', { ready: false, serving: false, terminating: true }, undefined],
  ];
  for (const [name, conditions, weight] of sorts) {
    it(`gives an endpoint that is ${name} ${weight === undefined ? 'no place' : `weight ${weight}`} by condition`, () => {
      const other = endpoint({ address: ip('10.180.1.9') });
      const asked = endpoint({ address: ip('10.180.1.2'), ...conditions });
      const chosen = [other, ...(asked.ready ? [asked] : [])];
      const found = realServersFor(
        { kind: 'cluster', policyLocal: false },
        { cluster: chosen, local: undefined, reachable: chosen, hasAny: true },
        [asked, other],
        { behaviour: 'documented', weights },
      );
      expect(found.find(({ address }) => address === asked.address)?.weight).to.equal(weight);
      expect(found.find(({ address }) => address === other.address)?.weight).to.equal(10);
    });
  }

  it('gives endpoints that stand in while they terminate the full weight', () => {
    const ending = endpoint({ ready: false, terminating: true });
    const chosen = { cluster: [ending], local: undefined, reachable: [ending], hasAny: true };
    const found = realServersFor({ kind: 'cluster', policyLocal: false }, chosen, [ending], {
      behaviour: 'documented',
      weights,
    });
    expect(found.map(({ weight }) => weight)).to.deep.equal([10]);
  });

  it('has only local ones wait where policy Local is in force', () => {
    const waiting = (address: string, isLocal: boolean) =>
      endpoint({ address: ip(address), local: isLocal, ready: false, serving: false });
    const chosen = { cluster: [local, remote], local: [local], reachable: [local, remote], hasAny: true };
    const all = [local, remote, waiting('10.180.0.7', true), waiting('10.180.1.7', false)];
    const found = (policyLocal: boolean) =>
      realServersFor({ kind: 'node-port', policyLocal }, chosen, all, { behaviour: 'documented', weights }).map(
        ({ address, weight }) => `${address} ${weight}`,
      );
    expect(found(true)).to.deep.equal(['10.180.0.1 10', '10.180.0.7 0']);
    expect(found(false)).to.deep.equal(['10.180.0.1 10', '10.180.1.1 10', '10.180.0.7 0', '10.180.1.7 0']);
  });
});
