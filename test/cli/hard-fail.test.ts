import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';

describe('test/cli/hard-fail', function () {
  this.timeout(30_000);
  let folder: string;
  let api: ApiServer;
  let taken: Server;
  let address: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-hard-fail-'));
    api = await startApiServer({ scheme: 'http' });
    writeFileSync(join(folder, 'kubeconfig'), api.kubeconfig());
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await api.stop();
    await new Promise((resolve) => taken.close(resolve));
    rmSync(folder, { recursive: true });
  });

  function run(flags: readonly string[]) {
    const program = join(import.meta.dirname, 'memory-daemon.ts');
    const kubeconfig = ['--kubeconfig', join(folder, 'kubeconfig'), '--hostname-override', 'node-a'];
    const args = [program, 'run', ...kubeconfig, '--bind-address-hard-fail', ...flags];
    return execa(process.execPath, args, { reject: false, timeout: 25_000 });
  }

  const servers = [
    {
      name: 'health',
      reason: 'FailedToStartProxierHealthcheck',
      flags: () => ['--healthz-bind-address', address, '--metrics-bind-address='],
    },
    {
      name: 'metrics',
      reason: 'FailedToStartMetricServer',
      flags: () => ['--metrics-bind-address', address, '--healthz-bind-address='],
    },
  ] as const;
  for (const { name, reason, flags } of servers) {
    it(`ends with status 1 and an Event ${reason} when the port of the ${name} server is taken`, async () => {
      const { exitCode, stderr } = await run(flags());
      expect(exitCode).to.equal(1);
      expect(stderr).to.include('ending, as bindAddressHardFail is set');
      const [event, ...others] = api.list('Event');
      expect(others).to.deep.equal([]);
      expect(event).to.deep.include({
        reportingComponent: 'kube-proxy',
        reportingInstance: 'ipvs-proxier-node-a',
        type: 'Warning',
        reason,
        action: 'StartKubeProxy',
        involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'node-a' },
      });
      expect(event)
        .to.have.property('message')
        .that.matches(new RegExp(`^the ${name} server cannot listen: .*EADDRINUSE`));
    });
  }

  it('ends all the same when the API server takes no Event', async () => {
    api.fault({ effect: { kind: 'hang' }, times: Number.POSITIVE_INFINITY });
    const { exitCode, timedOut } = await run(servers[0].flags());
    expect([exitCode, timedOut]).to.deep.equal([1, false]);
  });
});
