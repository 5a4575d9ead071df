import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { itWithKubectl, Kubectl } from '../apiserver/kubectl.ts';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import { NAMESPACE, node, type ServiceSketch, service, slice } from '../lab/objects.ts';
import { runProgram } from './program.ts';

const WEB: ServiceSketch = {
  name: 'web',
  type: 'NodePort',
  clusterIPs: ['10.96.0.10'],
  ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }],
};
const CLUSTER_SERVERS = '-A -t 10.96.0.10:80 -s rr\n';
const CLUSTER_REALS = '-a -t 10.96.0.10:80 -r 10.180.1.11:8080 -m -w 1\n';

describe('test/cli/cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-cluster-'));
  const kubeconfig = join(folder, 'kubeconfig');
  let api: ApiServer;

  before(async () => {
    api = await startApiServer();
    writeFileSync(kubeconfig, api.kubeconfig());
    api.apply(node('node-a', ['192.168.0.11']));
    api.apply(service(WEB));
    api.apply(slice(WEB, 8080, [{ address: '10.180.1.11', nodeName: 'node-a' }]));
  });

  after(() => api.stop());

  const dryRun = (...flags: readonly string[]) =>
    runProgram(['run', '--dry-run', '--hostname-override', 'node-a', ...flags]);

  it('prints with `run --dry-run` what would be programmed for the cluster', async () => {
    const { stdout, messages, exitCode } = await dryRun('--kubeconfig', kubeconfig, '-o', 'ipvs');
    expect(messages).to.deep.equal([]);
    expect(stdout)
      .to.include(CLUSTER_SERVERS)
      .and.include(CLUSTER_REALS)
      .and.match(/^-A -t [\d.]+:30080 -s rr$/m);
    expect(exitCode).to.equal(0);
  });

  it('explains of a headless Service, which no proxy lists, why it is not served', async () => {
    api.apply(service({ ...WEB, name: 'db', type: 'ClusterIP', clusterIPs: ['None'] }));
    const args = ['explain', 'db', '--kubeconfig', kubeconfig, '--node', 'node-a'];
    const { stdout, messages, exitCode } = await runProgram(args);
    expect([messages, exitCode]).to.deep.equal([[], 0]);
    expect(stdout).to.include('  not served: it is headless: clients dial its endpoints themselves\n');
  });

  it('warns when the API server does not know the node, and prints all the same', async () => {
    const { stdout, messages, exitCode } = await runProgram([
      'run',
      '--dry-run',
      '--hostname-override',
      'node-x',
      '--kubeconfig',
      kubeconfig,
      '-o',
      'ipvs',
    ]);
    expect(messages).to.deep.equal(['warning: Node node-x: is not known to the API server']);
    expect(stdout).to.include(CLUSTER_REALS);
    expect(exitCode).to.equal(0);
  });

  it('says in one line that nothing tells the API server who asks it', async () => {
    const anonymous = join(folder, 'anonymous');
    writeFileSync(anonymous, api.kubeconfig().replace(/^users:\n/m, 'users: []\nnobody:\n'));
    const warning = /there are no credentials for the API server; requests to it are anonymous/;
    expect((await dryRun('--kubeconfig', anonymous)).messages.filter((line) => warning.test(line))).to.have.length(1);
    const explained = await runProgram(['explain', 'web', '--node', 'node-a', '--kubeconfig', anonymous]);
    expect(explained.messages[0])
      .to.match(warning)
      .and.match(/^warning: /);
  });

  it('says in one line that no API server answers, and fails', async () => {
    const { stdout, messages, exitCode } = await dryRun('--master', 'http://127.0.0.1:9');
    expect(messages).to.have.length(1);
    expect(messages[0]).to.match(/^error: \w+ could not be listed: http:\/\/127\.0\.0\.1:9\S*: .*ECONNREFUSED/);
    expect([stdout, exitCode]).to.deep.equal(['', 1]);
  });

  it('says in one line that a kubeconfig is not there, and fails', async () => {
    const { messages, exitCode } = await dryRun('--kubeconfig', join(folder, 'absent'));
    expect(messages).to.have.length(1);
    expect(messages[0]).to.match(/^error: .*absent: .*no such file/);
    expect(exitCode).to.equal(1);
  });

  itWithKubectl('renders what `kubectl get svc,endpointslices,nodes -A -o yaml` prints', async () => {
    const kubectl = new Kubectl(api);
    try {
      const input = await kubectl.run(['get', 'svc,endpointslices,nodes', '-A', '-o', 'yaml']);
      const args = ['render', '-f', '-', '--node', 'node-a', '-o', 'ipvs'];
      const { stdout, messages, exitCode } = await runProgram(args, { input });
      expect(messages).to.deep.equal([]);
      expect(stdout).to.equal(
        `${CLUSTER_SERVERS}-A -t 192.168.0.11:30080 -s rr\n${CLUSTER_REALS}-a -t 192.168.0.11:30080 -r 10.180.1.11:8080 -m -w 1\n`,
      );
      expect(exitCode).to.equal(0);
    } finally {
      kubectl.remove();
    }
  });

  describe('with another Node whose address is an external IP', () => {
    const address = '192.168.0.12';
    const shared: ServiceSketch = {
      name: 'shared',
      clusterIPs: ['10.96.0.20'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
      spec: { externalIPs: [address] },
    };

    before(() => {
      api.apply(node('node-b', [address]));
      api.apply(service(shared));
    });
    after(() => {
      api.clearFaults();
      api.delete({ kind: 'Service', namespace: NAMESPACE, name: 'shared' });
      api.delete({ kind: 'Node', name: 'node-b' });
    });
    const asked = (...flags: readonly string[]) => dryRun('--kubeconfig', kubeconfig, '-o', 'ipvs', ...flags);

    it('R58: leaves the address to that Node and warns', async () => {
      const { stdout, messages, exitCode } = await asked();
      expect(stdout).to.include('-A -t 10.96.0.20:80 -s rr\n').and.not.include(`${address}:80 `);
      expect(messages).to.have.length(1);
      expect(messages[0]).to.include('Service shop/shared').and.include(address);
      expect(exitCode).to.equal(0);
    });

    it('serves it when it is to behave like kube-proxy, without a look at other Nodes', async () => {
      api.requests.clear();
      const { stdout, messages } = await asked('--behaviour', 'kube-proxy');
      expect(stdout).to.include(`-A -t ${address}:80 -s rr\n`);
      expect([messages, api.requests.count('list', 'nodes')]).to.deep.equal([[], 1]);
    });

    it('says in one line that the other Nodes are forbidden to it, and fails', async () => {
      const fieldSelector = 'metadata.name!=node-a';
      api.fault({
        effect: { kind: 'refuse', status: 403 },
        times: Number.POSITIVE_INFINITY,
        matching: ({ query }) => query.get('fieldSelector') === fieldSelector,
      });
      const { stdout, messages, exitCode } = await asked();
      expect(messages).to.have.length(1);
      expect(messages[0]).to.match(/^error: other nodes could not be listed: the API server refused with 403/);
      expect([stdout, exitCode]).to.deep.equal(['', 1]);
    });
  });
});
