import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from './program.ts';

const GOOD = `apiVersion: v1
kind: Service
metadata: {namespace: shop, name: cart}
spec: {clusterIP: 172.20.1.1, ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: shop, name: cart-1, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
ports: [{name: '', port: 8080}]
endpoints: [{addresses: [10.180.0.1]}]
`;
const GOOD_SERVERS = '-A -t 172.20.1.1:80 -s rr\n-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1\n';

describe('test/cli/bad-input', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-cli-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const render = (...files: readonly string[]) =>
    runProgram([
      'render',
      ...files.flatMap((name) => ['-f', name]),
      '--node',
      'node-a',
      '--node-addresses',
      'eth0=192.168.0.10/24',
      '-o',
      'ipvs',
    ]);
  const warnings = (messages: readonly string[]) =>
    messages.filter((line) => !line.includes('Node node-a: is not among the objects'));

  it('names the line of a broken YAML file, renders the others and fails', async () => {
    const { stdout, messages, exitCode } = await render(
      file('broken.yaml', 'kind: Service\nspec: {ports: [\n'),
      file('good.yaml', GOOD),
    );
    expect(warnings(messages)).to.have.length(1);
    expect(messages[0]).to.match(/^error: .*broken\.yaml:3:1: .*this document is left out$/);
    expect([stdout, exitCode]).to.deep.equal([GOOD_SERVERS, 1]);
  });

  it('names a file that is not there and renders the others', async () => {
    const { stdout, messages, exitCode } = await render(join(folder, 'absent.yaml'), file('good.yaml', GOOD));
    expect(warnings(messages)[0]).to.match(/^error: .*absent\.yaml: no such file or folder$/);
    expect([stdout, exitCode]).to.deep.equal([GOOD_SERVERS, 1]);
  });

  const objects = [
    {
      name: 'a Service without ports',
      text: 'apiVersion: v1\nkind: Service\nmetadata: {namespace: shop, name: bare}\nspec: {clusterIP: 172.20.1.2}\n',
      warning: 'warning: Service shop/bare: spec.ports: has no port; nothing of the Service is served',
    },
    {
      name: 'an endpoint that is no address',
      text: slice('bad', 'IPv4', '10.0.0.300'),
      warning:
        'warning: EndpointSlice shop/bad: endpoints[0].addresses[0]: "10.0.0.300" is not an IPv4 address; the endpoint is left out',
    },
    {
      name: 'a slice of unknown address type',
      text: slice('odd', 'IPX', '10.0.0.3'),
      warning: 'warning: EndpointSlice shop/odd: addressType: "IPX" is none of IPv4, IPv6, FQDN; the slice is left out',
    },
  ];
  for (const { name, text, warning } of objects) {
    it(`says in one line what is wrong with ${name}, and serves everything else`, async () => {
      const { stdout, messages, exitCode } = await render(file('all.yaml', `${text}---\n${GOOD}`));
      expect(warnings(messages)).to.deep.equal([warning]);
      expect([stdout, exitCode]).to.deep.equal([GOOD_SERVERS, 0]);
    });
  }

  it('names a wrong key of the configuration file, suggests the right one and ends with status 2', async () => {
    const config =
      'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nipvs: {schedular: rr}\n';
    const { stdout, messages, exitCode } = await runProgram(['run', '--config', file('config.yaml', config)]);
    expect(messages).to.have.length(1);
    expect(messages[0]).to.match(/^error: .*config\.yaml: ipvs\.schedular: .*scheduler/);
    expect([stdout, exitCode]).to.deep.equal(['', 2]);
  });

  it('suggests the option that was meant, and ends with status 2', async () => {
    const { messages, exitCode } = await runProgram(['--ipvs-schedular', 'rr']);
    expect(messages).to.deep.equal([
      'ipvs-proxier: unknown option --ipvs-schedular, did you mean --ipvs-scheduler?; see ipvs-proxier --help',
    ]);
    expect(exitCode).to.equal(2);
  });

  it('names every tool that is missing with its package, before it does anything', async () => {
    const { messages, exitCode } = await runProgram(['run', '--master', 'https://127.0.0.1:1'], { path: folder });
    expect(
      messages.some((line) => line.startsWith('error: ipvsadm is not installed') && line.endsWith('package ipvsadm')),
    ).to.equal(true);
    expect(messages.some((line) => line.startsWith('error: ipset is not installed'))).to.equal(true);
    expect(exitCode).to.equal(1);
  });
});

function slice(name: string, type: string, address: string): string {
  return `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: shop, name: ${name}, labels: {kubernetes.io/service-name: cart}}
addressType: ${type}
ports: [{name: '', port: 8080}]
endpoints: [{addresses: ['${address}']}]
`;
}
