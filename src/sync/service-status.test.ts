import { expect } from 'chai';
import { desiredFor } from '../../test/builders/desired.ts';
import { ip } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import type { Standing } from '../kernel/ipvs/parse-standing.ts';
import type { RealServerKey, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServiceName } from '../model/names.ts';
import { type FamilyView, partsByService, partsOf, serviceStatus } from './service-status.ts';

describe('sync/service-status', () => {
  const cart = servicePort({ name: 'shop/cart', clusterIP: ip('172.20.1.1') });
  const rival = servicePort({ name: 'shop/rival', clusterIP: ip('172.20.1.1') });
  const [one, other] = [endpoint({ address: ip('10.180.0.1') }), endpoint({ address: ip('10.180.0.2') })];
  const SERVER = 'TCP 172.20.1.1:80' as VirtualServerKey;
  const [first, second, gone] = ['10.180.0.1:8080', '10.180.0.2:8080', '10.180.0.3:8080'] as RealServerKey[];
  const view = (given: Partial<FamilyView> = {}): FamilyView => ({
    desired: desiredFor([[cart, [one, other]]]),
    ipvs: new Map(),
    drains: new Map(),
    ...given,
  });
  const status = (shown: FamilyView, standing?: ReadonlyMap<RealServerKey, Standing>) =>
    serviceStatus('shop/cart' as ServiceName, partsOf([shown], 'shop/cart'), () => standing, 61_000);
  const standing = (...reals: readonly (readonly [RealServerKey | undefined, Standing])[]) =>
    new Map(reals.flatMap(([key, each]) => (key ? [[key, each] as const] : [])));

  it('tells how each real server stands in the kernel', () => {
    const reals = standing(
      [first, { weight: 1, active: 2, inactive: 3 }],
      [second, { weight: 0, active: 0, inactive: 0 }],
      [gone, { weight: 0, active: 1, inactive: 0 }],
    );
    const drains = new Map([[SERVER, [{ server: SERVER, real: gone as RealServerKey, sinceMs: 1_000 }]]]);
    const [server] = status(view({ drains }), reals).virtualServers;
    expect(server).to.deep.include({ address: SERVER, kind: 'cluster', programmed: true });
    expect(server?.realServers.toSorted((a, b) => (a.address < b.address ? -1 : 1))).to.deep.equal([
      { address: first, state: 'active', weight: 1, active: 2, inactive: 3 },
      { address: second, state: 'no-new-connections', weight: 0, active: 0, inactive: 0 },
      { address: gone, state: 'draining', weight: 0, active: 1, inactive: 0, drainingSeconds: 60 },
    ]);
  });

  it('names what is wanted and not there', () => {
    const [server] = status(view()).virtualServers;
    expect(server?.programmed).to.equal(false);
    expect(server?.realServers.map(({ state }) => state)).to.deep.equal(['missing', 'missing']);
  });

  it('leaves out frontends that another Service has', () => {
    const desired = desiredFor([
      [cart, [one]],
      [rival, [other]],
    ]);
    const all = partsByService([view({ desired })]);
    expect([...all.keys()]).to.deep.equal(['shop/cart', 'shop/rival']);
    const counts = [...all].map(
      ([name, parts]) => serviceStatus(name, parts, () => undefined, 0).virtualServers.length,
    );
    expect(counts.toSorted()).to.deep.equal([0, 1]);
  });

  it('knows no Service before the first pass', () => {
    const shown = view({ desired: undefined });
    expect([partsByService([shown]).size, partsOf([shown], 'shop/cart')]).to.deep.equal([0, []]);
  });
});
