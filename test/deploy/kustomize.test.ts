import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { checkWorkload } from './check-workload.ts';
import { hasKubectl, kustomize, only, resolveByHand, TOP } from './kustomize.ts';
import { readDaemonSet } from './workload.ts';

/** Where the API server is found before any Service is served. */
const SERVERS: Readonly<Record<string, string>> = {
  k3s: '127.0.0.1:6444',
  kind: 'kind-control-plane:6443',
  kubeadm: 'api-server.invalid:6443',
  rke2: '127.0.0.1:6443',
  talos: '127.0.0.1:7445',
};
const IMAGE = `ipvs-proxier:${packageJson.version}`;

describe('test/deploy/kustomize', () => {
  it('knows every overlay', () => {
    expect(readdirSync(join(TOP, 'deploy/overlays')).sort()).to.deep.equal(Object.keys(SERVERS));
  });

  for (const folder of [...Object.keys(SERVERS).map((name) => `deploy/overlays/${name}`), 'deploy/monitoring']) {
    it(`${folder}: kubectl and the tests make the same of it`, function () {
      if (!hasKubectl) {
        process.stderr.write(`NOT RUN ${this.test?.fullTitle()}: could not run: kubectl not found\n`);
        return;
      }
      const sorted = (objects: ReturnType<typeof kustomize>) =>
        [...objects].sort((one, other) => (one.kind + one.metadata.name < other.kind + other.metadata.name ? -1 : 1));
      expect(sorted(kustomize(folder))).to.deep.equal(sorted(resolveByHand(folder)));
    });
  }

  for (const [name, server] of Object.entries(SERVERS)) {
    const objects = () => resolveByHand(`deploy/overlays/${name}`);

    it(`overlay ${name} asks for what the program has`, () => checkWorkload(objects(), IMAGE));

    it(`overlay ${name} finds the API server at ${server}`, () => {
      const { data = {} } = only(objects(), 'ConfigMap', 'ipvs-proxier-api-server');
      expect(`${data.KUBERNETES_SERVICE_HOST}:${data.KUBERNETES_SERVICE_PORT}`).to.equal(server);
    });

    it(`overlay ${name} puts everything into kube-system`, () => {
      const outside = objects().filter(({ kind, metadata: { namespace } }) => {
        return kind !== 'ClusterRoleBinding' && namespace !== 'kube-system';
      });
      expect(outside).to.deep.equal([]);
    });
  }

  it('leaves the machine its limit of connection tracking where nodes are containers', () => {
    const limits = ['kind', 'k3s'].map((name) => {
      const text =
        only(resolveByHand(`deploy/overlays/${name}`), 'ConfigMap', 'ipvs-proxier').data?.['config.yaml'] ?? '';
      return parse(text.split('\n---\n')[0] ?? '').conntrack;
    });
    expect(limits).to.deep.equal([{ maxPerCore: 0 }, { maxPerCore: 0 }]);
  });

  it('has the modules of Talos, which containers may not load, in its machine configuration', () => {
    const machine = parse(readFileSync(join(TOP, 'deploy/overlays/talos/machine-config.yaml'), 'utf8'));
    const { volumes } = readDaemonSet(only(resolveByHand('deploy/overlays/talos'), 'DaemonSet')).template.spec;
    expect(volumes.find(({ name }) => name === 'lib-modules')?.hostPath?.path).to.equal('/usr/lib/modules');
    expect(machine.cluster.proxy.disabled).to.equal(true);
    expect(machine.machine.features.kubePrism.port).to.equal(7445);
    const names = machine.machine.kernel.modules.map(({ name }: { name: string }) => name);
    expect(names).to.include.members(['ip_vs', 'ip_vs_rr', 'nf_conntrack', 'ip_set', 'xt_set', 'dummy']);
  });
});
