import { expect } from 'chai';
import { parse } from 'yaml';
import { parseExposition, seriesOf } from './exposition.ts';
import { ObservedNode, type ObservedNodeOptions, START_MS } from './observed-node.ts';

describe('test/http/debug-server', () => {
  let node: ObservedNode;

  async function start(options: ObservedNodeOptions = {}): Promise<void> {
    node = new ObservedNode(options);
    await node.serving.start();
  }
  afterEach(() => node.stop());

  const ask = (path: string, init?: RequestInit) => node.ask('metrics', path, init);
  const accepting = (path: string, accept: string) => ask(path, { headers: { Accept: accept } });

  const TEXTS: readonly (readonly [path: string, type: string, body: string])[] = [
    ['/healthz', 'text/plain; charset=utf-8', 'ok'],
    ['/healthz/ping', 'text/plain; charset=utf-8', 'ok'],
    ['/healthz?verbose', 'text/plain; charset=utf-8', '[+]ping ok\nhealthz check passed\n'],
    ['/healthz?verbose&exclude=ping', 'text/plain; charset=utf-8', '[+]ping excluded: ok\nhealthz check passed\n'],
    ['/proxyMode', 'text/plain; charset=utf-8', 'ipvs'],
  ];
  for (const [path, type, body] of TEXTS) {
    it(`answers ${path} as kube-proxy does`, async () => {
      await start();
      const reply = await ask(path);
      expect([reply.status, reply.headers.get('content-type'), reply.body]).to.deep.equal([200, type, body]);
      expect(reply.headers.get('x-content-type-options')).to.equal('nosniff');
    });
  }

  it('is healthy whatever becomes of passes', async () => {
    await start();
    node.failing.add('file');
    await node.listed();
    await node.advance(120_000);
    expect((await ask('/healthz')).status).to.equal(200);
  });

  for (const path of ['/', '/livez', '/readyz', '/debug/pprof/', '/debug/flags/v', '/metrics/']) {
    it(`has nothing at ${path} unless profiling is on`, async () => {
      await start();
      expect((await ask(path)).status).to.equal(404);
    });
  }

  it('counts its health checks until that is reset', async () => {
    await start();
    const page = async () => parseExposition((await ask('/metrics/slis')).body);
    expect([...(await page()).keys()]).to.deep.equal(['process_start_time_seconds']);
    await ask('/healthz');
    await ask('/healthz');
    const labels = { name: 'ping', type: 'healthz', status: 'success' };
    expect(seriesOf(await page(), 'kubernetes_healthchecks_total', labels)).to.equal(2);
    expect(seriesOf(await page(), 'kubernetes_healthcheck', { name: 'ping', type: 'healthz' })).to.equal(1);
    expect(seriesOf(await page(), 'process_start_time_seconds')).to.equal(START_MS / 1000);
    expect((await ask('/metrics/slis', { method: 'DELETE' })).body).to.equal('metrics reset\n');
    expect((await page()).has('kubernetes_healthchecks_total')).to.equal(false);
  });

  it('shows the configuration in force in the form of its file', async () => {
    await start({ configuration: 'ipvs:\n  syncPeriod: 45s\n  scheduler: wrr\nclusterCIDR: 10.180.0.0/16\n' });
    const { status, headers, body } = await ask('/configz');
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json']);
    const { 'kubeproxy.config.k8s.io': config, 'ipvs-proxier.dev': own } = JSON.parse(body);
    expect(config).to.deep.include({
      kind: 'KubeProxyConfiguration',
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      mode: 'ipvs',
      clusterCIDR: '10.180.0.0/16',
    });
    expect(config.ipvs).to.deep.include({ syncPeriod: '45s', scheduler: 'wrr', excludeCIDRs: [] });
    expect(config.conntrack).to.deep.include({ tcpEstablishedTimeout: '24h0m0s', min: 131072 });
    expect(own).to.include({ behaviour: 'documented' });
  });

  it('shows flags and status as text for people', async () => {
    await start({ flags: { 'ipvs-scheduler': 'wrr' } });
    await node.advance(3_723_000);
    const flags = await ask('/flagz');
    expect([flags.status, flags.headers.get('content-type')]).to.deep.equal([200, 'text/plain; charset=utf-8']);
    const lines = flags.body.split('\n');
    expect(lines.slice(0, 2)).to.deep.equal(['', 'kube-proxy flagz']);
    expect(lines[2]).to.match(/^Warning: .*not meant to be machine parseable/);
    expect(flags.body)
      .to.match(/^ipvs-scheduler(:|: |=| )wrr$/m)
      .and.match(/^ipvs-sync-period(:|: |=| )30s$/m);
    const status = (await accepting('/statusz', '*/*')).body;
    expect(status.split('\n')[1]).to.equal('kube-proxy statusz');
    expect(status).to.match(/^Started(:|: |=| )Thu Jan {2}1 00:00:00 UTC 2026$/m);
    expect(status)
      .to.match(/^Up(:|: |=| )1 hr 02 min 03 sec$/m)
      .and.match(/^Binary version(:|: |=| )1\.2\.3$/m);
    expect(status).to.match(/^Paths(:|: |=| )\/configz .*\/statusz$/m);
  });

  it('shows them to programs that name kind, version and group', async () => {
    await start();
    await node.advance(5_000);
    const of = (kind: string, version: string) => `;as=${kind};v=${version};g=config.k8s.io`;
    const status = await accepting('/statusz', `application/json${of('Statusz', 'v1beta1')}`);
    expect(JSON.parse(status.body)).to.deep.include({
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1beta1',
      startTime: '2026-01-01T00:00:00Z',
      uptimeSeconds: 5,
      binaryVersion: '1.2.3',
    });
    expect(status.headers.get('warning')).to.equal(null);
    const flags = await accepting('/flagz', `text/html, application/yaml${of('Flagz', 'v1alpha1')}`);
    expect(flags.headers.get('content-type')).to.equal('application/yaml');
    expect(flags.headers.get('warning')).to.match(/^299 - "/);
    expect(parse(flags.body).flags).to.include({ 'ipvs-sync-period': '30s' });
    for (const accept of ['application/json', 'image/png', `application/json${of('Statusz', 'v1beta1')}`]) {
      expect((await accepting('/flagz', accept)).status, accept).to.equal(406);
    }
  });

  it('has neither page when its feature gate is off', async () => {
    await start({ configuration: 'featureGates: {ComponentFlagz: false, ComponentStatusz: false}\n' });
    expect((await ask('/flagz')).status).to.equal(404);
    expect((await ask('/statusz')).status).to.equal(404);
  });

  describe('with profiling', () => {
    beforeEach(() => start({ configuration: 'enableProfiling: true\n' }));

    it('lists profiles, behind a redirect too', async () => {
      const { status, headers } = await ask('/debug/pprof');
      expect([status, headers.get('location')]).to.deep.equal([302, '/debug/pprof/']);
      expect((await ask('/debug/pprof/')).body).to.include('/debug/pprof/profile?seconds=30\n');
      expect((await ask('/debug/pprof/goroutine')).status).to.equal(404);
    });

    for (const [path, field] of [
      ['/debug/pprof/profile', 'nodes'],
      ['/debug/pprof/heap', 'head'],
    ] as const) {
      it(`records ${path} for as long as asked`, async () => {
        const { status, headers, body } = await ask(`${path}?seconds=0.05`);
        expect([status, headers.get('content-type')]).to.deep.equal([200, 'application/json']);
        expect(JSON.parse(body)).to.have.property(field);
        expect((await ask(`${path}?seconds=0`)).status).to.equal(400);
        expect((await ask(`${path}?seconds=1e9`)).status).to.equal(400);
      });
    }

    it('changes the verbosity of the log', async () => {
      const put = (body: string) => ask('/debug/flags/v', { method: 'PUT', body });
      const set = await put('4');
      expect([set.status, set.body]).to.deep.equal([200, 'successfully set klog.logging.verbosity to 4']);
      expect(node.verbosity).to.equal(4);
      expect((await put('loud')).status).to.equal(400);
      expect((await ask('/debug/flags/v')).status).to.equal(406);
      expect(node.verbosity).to.equal(4);
    });
  });
});
