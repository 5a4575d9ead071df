import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { itWithKubectl, Kubectl } from './kubectl.ts';
import { type ApiServer, startApiServer } from './server.ts';

const manifest = `
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec:
  type: NodePort
  selector: {app: cart}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: cart-1, namespace: shop, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.180.0.1]}, {addresses: [10.180.0.2]}]
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
`;

describe('test/apiserver/server: kubectl', () => {
  let api: ApiServer;
  let kubectl: Kubectl;

  beforeEach(async () => {
    api = await startApiServer({ token: 'secret' });
    kubectl = new Kubectl(api);
  });
  afterEach(async () => {
    kubectl.remove();
    await api.stop();
  });

  itWithKubectl('applies manifests with validation, and changes only what changed', async () => {
    const apply = (text: string) => kubectl.run(['apply', '-f', '-'], text);
    expect(await apply(manifest)).to.match(/service\/cart created.*cart-1 created.*node-a created/s);
    expect(await apply(manifest)).to.match(/service\/cart unchanged/);
    expect(await apply(manifest.replaceAll('port: 80,', 'port: 8081,'))).to.match(/service\/cart configured/);
    expect(api.get({ kind: 'Service', namespace: 'shop', name: 'cart' }))
      .to.have.nested.property('spec.ports')
      .with.length(1);
    expect(await kubectl.run(['apply', '--server-side', '--force-conflicts', '-f', '-'], manifest)).to.match(
      /cart serverside-applied/,
    );
  });

  itWithKubectl('prints tables and whole objects', async () => {
    await kubectl.run(['create', '-f', '-'], manifest);
    const table = await kubectl.run(['get', 'svc,endpointslices,nodes', '-A']);
    expect(table).to.match(/NAMESPACE +NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE/);
    expect(table).to.match(/service\/cart +NodePort +10\.96\.1\.1 +<none> +80:30000\/TCP/);
    expect(table).to.match(/cart-1 +IPv4 +8080 +10\.180\.0\.1,10\.180\.0\.2/);
    expect(table).to.match(/node\/node-a +Unknown/);
    const yaml = await kubectl.run(['get', 'svc,endpointslices,nodes', '-A', '-o', 'yaml']);
    expect(yaml).to.match(/kind: EndpointSlice.*kind: Service|kind: Service.*kind: EndpointSlice/s);
    expect(await kubectl.run(['get', 'all', '-A'])).to.match(/cart +NodePort/);
  });

  itWithKubectl('patches, labels and deletes', async () => {
    await kubectl.run(['create', '-f', '-'], manifest);
    await kubectl.run(['-n', 'shop', 'patch', 'svc', 'cart', '-p', '{"spec":{"ports":[{"name":"more","port":81}]}}']);
    await kubectl.run([
      '-n',
      'shop',
      'patch',
      'svc',
      'cart',
      '--type',
      'json',
      '-p',
      '[{"op":"remove","path":"/spec/selector"}]',
    ]);
    const ingress = '{"status":{"loadBalancer":{"ingress":[{"ip":"192.168.7.1"}]}}}';
    await kubectl.run([
      '-n',
      'shop',
      'patch',
      'svc',
      'cart',
      '--subresource',
      'status',
      '--type',
      'merge',
      '-p',
      ingress,
    ]);
    await kubectl.run(['label', 'node', 'node-a', 'zone=a']);
    const service = api.get({ kind: 'Service', namespace: 'shop', name: 'cart' });
    expect(service).to.have.nested.property('spec.ports').with.length(2);
    expect(service).to.not.have.nested.property('spec.selector');
    expect(service).to.have.nested.property('status.loadBalancer.ingress[0].ip', '192.168.7.1');
    expect(await kubectl.run(['delete', '-f', '-'], manifest)).to.match(/service "cart" deleted/);
    expect(api.list('Service')).to.deep.equal([]);
  });

  itWithKubectl('prints changes as they happen', async () => {
    await kubectl.run(['create', '-f', '-'], manifest);
    const printed = kubectl.runUntil(['-n', 'shop', 'get', 'svc', '-w'], 'ClusterIP');
    await api.watches.until('services', 1);
    await kubectl.run(['-n', 'shop', 'patch', 'svc', 'cart', '-p', '{"spec":{"type":"ClusterIP"}}']);
    expect(await printed).to.match(/NAME +TYPE.*cart +NodePort.*cart +ClusterIP +10\.96\.1\.1 +<none> +80\/TCP/s);
  });

  itWithKubectl('discovers resources and versions', async () => {
    expect(await kubectl.run(['api-resources'])).to.match(
      /endpointslices +discovery\.k8s\.io\/v1 +true +EndpointSlice/,
    );
    expect(await kubectl.run(['version'])).to.match(/Server Version: v1\.32/);
    expect(await kubectl.run(['get', '--raw', '/readyz'])).to.equal('ok');
  });
});

describe('test/apiserver/main', () => {
  it('writes a kubeconfig, says where it listens and ends on SIGTERM', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'apiserver-main-'));
    const kubeconfig = join(directory, 'kubeconfig');
    const main = join(import.meta.dirname, 'main.ts');
    const child = spawn(process.execPath, [
      main,
      '--address',
      '127.0.0.1',
      '--address',
      '::1',
      '--token',
      't',
      '--kubeconfig',
      kubeconfig,
    ]);
    const [line] = await once(child.stdout, 'data');
    expect(String(line)).to.match(/^listening on https:\/\/127\.0\.0\.1:\d+\n$/);
    expect(readFileSync(kubeconfig, 'utf8')).to.match(/token: t\b/);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    rmSync(directory, { recursive: true });
  });
});
