import { expect } from 'chai';
import { makeCertificates } from '../apiserver/certificates.ts';
import type { FaultEffect } from '../apiserver/faults.ts';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import { kernelText } from '../kernel/kernel-text.ts';
import { ChaosNode, type ChaosNodeOptions, SPEED } from './chaos-node.ts';
import { changeCluster, fillCluster, numberedService, numberedSlice, wantedKernel } from './cluster-content.ts';

const KINDS = ['services', 'endpointslices', 'nodes'] as const;
/** Nodes are watched twice: the own one, and the others. */
const WATCHES = [
  ['services', 1],
  ['endpointslices', 1],
  ['nodes', 2],
] as const;
const RESOURCES = 4;

describe('test/chaos', function () {
  this.timeout(60_000);
  let api: ApiServer;
  let node: ChaosNode;
  let otherApis: ApiServer[];

  beforeEach(async () => {
    otherApis = [];
    api = await startApiServer({ token: 'secret' });
    fillCluster(api, 10);
  });

  /** Nothing is left open, whatever happened. */
  afterEach(async () => {
    await node.stop();
    expect(node.transport.leftListeners(), 'listeners on signals').to.equal(0);
    for (const each of [api, ...otherApis]) {
      await Promise.all(KINDS.map((plural) => each.watches.until(plural, 0)));
      await drained(() => each.connections());
      await each.stop();
    }
  });

  async function begin(given: Partial<ChaosNodeOptions> = {}): Promise<void> {
    node = new ChaosNode({ kubeconfig: api.kubeconfig(), ...given });
    await converged();
    await allWatch();
    node.takeWrites();
  }

  const allWatch = (from = api) => Promise.all(WATCHES.map(([plural, count]) => from.watches.until(plural, count)));

  /** What the cluster asks for is in the kernel, by the first pass after the last news of it; one watch is open for each resource. */
  async function converged(from = api): Promise<void> {
    const wanted = wantedKernel(from);
    await node.until(() => withoutDrains(kernelText(node.kernel)) === wanted);
    expect(node.passesSinceNews, 'passes since the last news').to.be.at.most(1);
    await allWatch(from);
    expect(from.connections(), 'connections').to.be.at.most(2 * RESOURCES);
  }

  /** Runs `act`, and counts requests of the 10 s after it. */
  async function calm(act: () => unknown): Promise<() => Promise<void>> {
    const fromMs = node.clock.nowMs();
    const wallMs = Date.now();
    await act();
    return async () => {
      await new Promise<void>((resolve) =>
        node.clock.after(Math.max(0, fromMs + 10_000 - node.clock.nowMs()), resolve),
      );
      expect(node.transport.sent(fromMs, 10_000), 'requests in the first 10 s').to.be.at.most(10);
      const came = api.requests.all.filter(({ atMs }) => atMs >= wallMs && atMs < wallMs + 10_000 / SPEED);
      expect(came.length, 'requests that came in the first 10 s').to.be.at.most(10);
    };
  }

  async function drained(count: () => number): Promise<void> {
    for (let turn = 0; turn < 1000 && count() > 0; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(count(), 'connections that are left').to.equal(0);
  }

  /** Spoils every request from now on, and breaks the watches that are open. */
  async function spoilAll(effect: FaultEffect): Promise<void> {
    api.fault({ effect, times: Number.POSITIVE_INFINITY });
    api.cutWatches();
    await node.untilTold(/^trouble/);
  }

  it('lives through a 410 in the stream of every watch', async () => {
    await begin();
    const counted = await calm(() => {
      api.compact();
      api.writeToWatches(
        `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })}\n`,
      );
      changeCluster(api);
    });
    await converged();
    await counted();
    expect([...node.watch.counts().values()].map(({ relists }) => relists.expired)).to.deep.equal([1, 1, 1, 1]);
  });

  it('lives through a 410 as the answer to every watch', async () => {
    await begin();
    const counted = await calm(() => {
      const matching = ({ verb }: { readonly verb: string }) => verb === 'watch';
      api.fault({ effect: { kind: 'refuse', status: 410 }, times: RESOURCES, matching });
      api.cutWatches();
      changeCluster(api);
    });
    await converged();
    await counted();
  });

  it('lives through one compaction after another', async () => {
    await begin();
    for (let storm = 0; storm < 6; storm += 1) {
      api.compact();
      const cut = api.watches.until('services', 0);
      api.cutWatches();
      await cut;
      api.apply(numberedSlice(3, [`10.180.2.${storm + 1}`]));
      await allWatch();
    }
    changeCluster(api);
    await converged();
    const everMs = Number.POSITIVE_INFINITY;
    expect(node.transport.sent(0, everMs), 'requests in 1 + 6 rounds').to.be.at.most((2 + 6 * 3) * RESOURCES);
  });

  for (const effect of [
    { kind: 'refuse', status: 429, retryAfterSeconds: 30 },
    { kind: 'refuse', status: 500 },
    { kind: 'refuse', status: 503 },
    { kind: 'refuse', status: 302 },
    { kind: 'reset' },
  ] as const) {
    it(`lives through a minute of ${effect.kind === 'reset' ? 'broken connections' : `answers ${effect.status}`}`, async () => {
      await begin();
      const before = kernelText(node.kernel);
      const counted = await calm(() => spoilAll(effect));
      changeCluster(api);
      await counted();
      await new Promise<void>((resolve) => node.clock.after(50_000, resolve));
      expect([kernelText(node.kernel), node.takeWrites()]).to.deep.equal([before, []]);
      const returned = await calm(() => api.clearFaults());
      await converged();
      await returned();
    });
  }

  it('goes on with a new token after answers 401', async () => {
    api.setToken('first');
    node = new ChaosNode({ kubeconfig: api.kubeconfig({ tokenFile: 'token' }) });
    node.writeFile('token', 'first');
    await converged();
    node.takeWrites();
    const before = kernelText(node.kernel);
    const counted = await calm(async () => {
      api.setToken('second');
      api.cutWatches();
      await node.untilTold(/^trouble .* 401/);
    });
    changeCluster(api);
    await counted();
    expect([kernelText(node.kernel), node.takeWrites()]).to.deep.equal([before, []]);
    node.writeFile('token', 'second');
    await converged();
  });

  it('goes on when certificates of the server, its authority and the own certificate are replaced', async () => {
    const [own, renewed] = await Promise.all([makeCertificates([]), makeCertificates([])]);
    await api.renewCertificates(own.ca);
    const clientCertificate = { cert: 'own.crt', key: 'own.key' };
    const certificate = ({ cert, key }: { readonly cert: string; readonly key: string }) => {
      node.writeFile('own.crt', cert);
      node.writeFile('own.key', key);
    };
    node = new ChaosNode({ kubeconfig: api.kubeconfig({ clientCertificate }) });
    certificate(own);
    await converged();
    node.takeWrites();
    const before = kernelText(node.kernel);
    const counted = await calm(async () => {
      await api.renewCertificates(renewed.ca);
      api.cutWatches();
      await node.untilTold(/^trouble .*certificate/);
    });
    changeCluster(api);
    await counted();
    expect([kernelText(node.kernel), node.takeWrites()]).to.deep.equal([before, []]);
    node.writeFile('kubeconfig', api.kubeconfig({ clientCertificate }));
    await node.untilTold(/^trouble .* 401/);
    certificate(renewed);
    await converged();
  });

  it('goes on from where it was when connections break in the middle of a line', async () => {
    await begin();
    const counted = await calm(async () => {
      const cut = Promise.all(KINDS.map((plural) => api.watches.until(plural, 0)));
      api.cutWatches('{"type":"ADDED","object":{"metadata":{"na');
      await cut;
    });
    changeCluster(api);
    await converged();
    await counted();
    expect([...node.watch.counts().values()].map(({ lists }) => lists)).to.deep.equal([1, 1, 1, 1]);
  });

  it('leaves connections on which nothing comes any more', async () => {
    await begin();
    const before = kernelText(node.kernel);
    const counted = await calm(() => api.fallSilent());
    changeCluster(api);
    await node.untilTold(/^trouble .*did not answer/);
    await counted();
    expect([kernelText(node.kernel), node.takeWrites()]).to.deep.equal([before, []]);
    const returned = await calm(() => api.speak());
    const wanted = wantedKernel(api);
    await node.until(() => withoutDrains(kernelText(node.kernel)) === wanted);
    await returned();
  });

  it('lists again after a line that is cut off', async () => {
    await begin();
    const counted = await calm(() => {
      api.writeToWatches('{"type":"ADDED","object":{"metadata":{"na\n');
      changeCluster(api);
    });
    await converged();
    await counted();
    expect([...node.watch.counts().values()].map(({ relists }) => relists.malformed)).to.deep.equal([1, 1, 1, 1]);
  });

  it('takes an object of 5 MB from a watch and from a list', async () => {
    await begin();
    api.apply(numberedService(60, { blob: 'x'.repeat(5_000_000) }));
    api.apply(numberedSlice(60, ['10.180.1.60']));
    await converged();
    const counted = await calm(() => api.writeToWatches('cut off\n', 'services'));
    changeCluster(api);
    await converged();
    await counted();
  });

  it('is not misled by events that come twice, or out of their order', async () => {
    await begin();
    const slice = () => api.get({ kind: 'EndpointSlice', namespace: 'shop', name: 's-3-1' });
    const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
    const old = slice();
    api.apply(numberedSlice(3, ['10.180.1.33']));
    const twice = event('MODIFIED', slice());
    api.writeToWatches(twice, 'endpointslices');
    api.writeToWatches(twice, 'endpointslices');
    await converged();
    expect(node.watch.counts().get('endpointslices')?.lists).to.equal(1);
    const counted = await calm(() => {
      api.delete({ kind: 'EndpointSlice', namespace: 'shop', name: 's-4-1' });
      api.writeToWatches(event('MODIFIED', old), 'endpointslices');
    });
    await node.untilTold(/older than what came before/);
    await converged();
    await counted();
  });

  it('keeps everything while the server is gone for minutes, and takes over what it comes back with', async () => {
    await begin();
    const before = kernelText(node.kernel);
    const counted = await calm(() => api.stopAccepting());
    await node.untilTold(/^trouble/);
    changeCluster(api);
    api.compact();
    await counted();
    await new Promise<void>((resolve) => node.clock.after(240_000, resolve));
    expect([kernelText(node.kernel), node.takeWrites()]).to.deep.equal([before, []]);
    const returned = await calm(() => api.startAccepting());
    const wanted = wantedKernel(api);
    await node.until(() => withoutDrains(kernelText(node.kernel)) === wanted);
    await returned();
  });

  it('takes over a new list in the middle of a pass', async () => {
    await begin();
    const release = node.holdTools();
    api.apply(numberedSlice(5, ['10.180.1.5']));
    await node.until(() => node.passesSinceNews === 1);
    api.compact();
    api.writeToWatches(
      `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })}\n`,
    );
    changeCluster(api);
    await Promise.all(KINDS.map((plural) => api.watches.until(plural, 0)));
    await allWatch();
    release();
    await converged();
  });

  it('goes over to another address of the server when one does not answer, and stays there', async () => {
    const second = await startApiServer({ token: 'secret', scheme: 'http' });
    otherApis.push(second);
    fillCluster(second, 10);
    await api.stop();
    api = await startApiServer({ token: 'secret', scheme: 'http' });
    fillCluster(api, 10);
    await begin({ transport: { otherServers: [second.url] } });
    changeCluster(second);
    const counted = await calm(() => api.stopAccepting());
    await converged(second);
    await counted();
    await api.startAccepting();
    second.apply(numberedSlice(6, ['10.180.1.6']));
    await converged(second);
    expect(api.connections()).to.equal(0);
  });
});

/** Real servers that take no new connections go a little later. */
function withoutDrains(text: string): string {
  return text.replace(/^-a .* -w 0\n/gm, '');
}
