import { mkdirSync, mkdtempSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemHost } from '../../src/apply/host.ts';
import { prepareConntrack } from '../../src/apply/prepare-conntrack.ts';
import { DEFAULTS, HEAD } from '../../src/config/config-fixture.ts';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import type { Daemon } from './daemon.ts';
import { requireLab } from './in-lab.ts';
import { node } from './objects.ts';
import { startProxier } from './proxier-daemon.ts';
import { useLab } from './shared-lab.ts';
import { waitFor } from './wait-for.ts';

describe('test/lab/configuration', () => {
  const shared = useLab();
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-configuration-'));
  let api: ApiServer;
  let daemon: Daemon | undefined;
  let version = 0;

  before('an API server', async () => {
    requireLab();
    api = await startApiServer({ addresses: ['192.168.0.1'], certificateAddresses: ['192.168.0.1'] });
    const { name, addresses } = shared().lab.node('node-a');
    api.apply(node(name, [addresses.IPv4, addresses.IPv6]));
  });
  after('the daemon and the API server', async () => {
    await daemon?.stop();
    await api.stop();
  });

  /** Publishes a text as kubelet does for a mounted ConfigMap. */
  function publish(lines: string): void {
    version += 1;
    mkdirSync(join(folder, `..${version}`));
    const limits = 'conntrack: {maxPerCore: 0}\n';
    const text = `${HEAD}mode: ipvs\nclientConnection: {kubeconfig: ${join(folder, 'kubeconfig')}}\n${limits}${lines}`;
    writeFileSync(join(folder, `..${version}`, 'config.conf'), text);
    symlinkSync(`..${version}`, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  }

  const said = (text: string) =>
    waitFor(
      `"${text}" in the log`,
      () => daemon?.log() ?? '',
      (log) => log.includes(text),
      { timeoutMs: 240_000 },
    );

  it('takes over, refuses and ends for new texts of a mounted ConfigMap', async () => {
    publish('');
    symlinkSync('..data/config.conf', join(folder, 'config.conf'));
    const flags = ['--config', join(folder, 'config.conf')];
    daemon = startProxier(shared().lab, 'node-a', api.kubeconfig(), folder, flags);
    await said('node programmed');
    publish('logging: {verbosity: 2}\n');
    await said('the changed configuration is in force');
    publish('logging: {verbosity: 2}\nipvs: {scheduler: 5}\n');
    await said('the changed configuration is wrong; the one in force stays');
    publish('logging: {verbosity: 2}\nipvs: {scheduler: wlc}\n');
    expect(await daemon.exited).to.deep.equal({ exitCode: 0 });
    expect(daemon.log()).to.include('the configuration has changed: ipvs.scheduler \\"rr\\" → \\"wlc\\"');
  });

  it('R120: ends with the name and the cause when its Node never appears', async () => {
    const flags = ['--hostname-override', 'nobody'];
    const lost = startProxier(shared().lab, 'node-b', api.kubeconfig(), folder, flags);
    expect(await lost.exited).to.deep.equal({ exitCode: 1 });
    expect(lost.log()).to.match(/Node \\?"nobody\\?" is not known to the API server after 30 s/);
  });

  it('writes limits of connection tracking that the kernel takes, and finds nothing to do the second time', async () => {
    const limits = {
      ...DEFAULTS.conntrack,
      maxPerCore: 100_000,
      min: 0,
      tcpBeLiberal: true,
      udpTimeoutMs: 45_000,
      udpStreamTimeoutMs: 90_000,
    };
    const first = await prepareConntrack(systemHost, limits);
    expect(first.ok && first.value.warnings).to.deep.equal([]);
    expect(
      first.ok && first.value.written.map(({ path, value }) => `${path.split('/').at(-1)} ${value}`),
    ).to.deep.equal([
      'nf_conntrack_max 100000',
      'nf_conntrack_tcp_timeout_established 86400',
      'nf_conntrack_tcp_timeout_close_wait 3600',
      'nf_conntrack_tcp_be_liberal 1',
      'nf_conntrack_udp_timeout 45',
      'nf_conntrack_udp_timeout_stream 90',
    ]);
    expect(readFileSync('/proc/sys/net/netfilter/nf_conntrack_max', 'utf8').trim()).to.equal('100000');
    expect(await prepareConntrack(systemHost, limits)).to.deep.equal({
      ok: true,
      value: { written: [], warnings: [] },
    });
  });
});
