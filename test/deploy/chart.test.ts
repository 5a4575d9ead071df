import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { checkWorkload } from './check-workload.ts';
import { hasProgram, type Manifest, only, readManifests, resolveByHand, TOP } from './kustomize.ts';
import { type Container, containersOf, readDaemonSet } from './workload.ts';

const CHART = join(TOP, 'deploy/helm/ipvs-proxier');
const read = (path: string) => readFileSync(join(CHART, path), 'utf8');

describe('test/deploy/chart', () => {
  const values: Readonly<Record<string, unknown>> = parse(read('values.yaml'));
  const schema = JSON.parse(read('values.schema.json'));
  const templates = readdirSync(join(CHART, 'templates')).map((name) => read(join('templates', name)));
  const hasHelm = hasProgram('helm', 'version');

  it('has the version of the program', () => {
    const { version, appVersion } = parse(read('Chart.yaml'));
    expect([version, appVersion]).to.deep.equal([packageJson.version, packageJson.version]);
  });

  it('has values that its schema accepts, and a schema that knows each of them', () => {
    expect(z.fromJSONSchema(schema).safeParse(values).error?.issues).to.equal(undefined);
    expect(
      Object.keys(schema.properties)
        .filter((name) => name !== 'global')
        .sort(),
    ).to.deep.equal(Object.keys(values).sort());
  });

  const wrong: readonly (readonly [name: string, values: object])[] = [
    ['a value that is misspelt', { tolerationz: [] }],
    ['a back end of iptables that does not exist', { iptablesBackend: 'ebpf' }],
    ['a URL in the place of a host', { apiServer: { host: 'https://10.0.0.1' } }],
    ['a port out of range', { apiServer: { port: 70000 } }],
    ['a digest without its algorithm', { image: { digest: 'abc' } }],
  ];
  for (const [name, given] of wrong) {
    it(`has a schema that refuses ${name}`, () => {
      expect(z.fromJSONSchema(schema).safeParse({ ...values, ...given }).success).to.equal(false);
    });
  }

  it('uses values that are there, and every one of them', () => {
    const used = new Set(
      templates.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path ?? '')),
    );
    const at = (path: string) =>
      path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown>)?.[key], values);
    expect([...used].filter((path) => at(path) === undefined)).to.deep.equal([]);
    const names = [...used].map((path) => path.split('.')[0]);
    expect(Object.keys(values).filter((name) => !names.includes(name))).to.deep.equal([]);
  });

  it('includes templates that are there, and closes every block', () => {
    const text = templates.join('\n');
    const defined = [...text.matchAll(/define "([^"]+)"/g)].map(([, name]) => name);
    const included = [...text.matchAll(/include "([^"]+)"/g)].map(([, name]) => name);
    expect(included.filter((name) => !defined.includes(name))).to.deep.equal([]);
    for (const template of templates) {
      const words = [...template.matchAll(/\{\{-?\s*(if|with|range|define|end)\b/g)].map(([, word]) => word);
      expect(words.filter((word) => word === 'end').length * 2).to.equal(words.length);
    }
  });

  it('gives the Pod of the base, but for what its values decide', () => {
    const text = read('templates/daemonset.yaml').replaceAll(/^.*\{\{.*\n/gm, '');
    const base = readFileSync(join(TOP, 'deploy/base/daemonset.yaml'), 'utf8');
    const lines = base.split('\n').map((line) => line.trim());
    const own = [
      'checksum/config',
      'imagePullSecrets:',
      'affinity:',
      '- name: IPTABLES_BACKEND',
      'privileged: true',
      '# New settings',
    ];
    const others = text.split('\n').map((line) => line.trim());
    expect(
      others.filter((line) => !lines.includes(line) && !own.some((start) => line.startsWith(start))),
    ).to.deep.equal([]);
  });

  function itWithHelm(name: string, run: () => void | Promise<void>): void {
    it(name, async function () {
      if (hasHelm) await run();
      else process.stderr.write(`NOT RUN ${this.test?.fullTitle()}: could not run: helm not found\n`);
    });
  }

  function template(...settings: readonly string[]): readonly Manifest[] {
    const args = ['template', 'ipvs-proxier', CHART, '--namespace', 'kube-system', '--kube-version', '1.34.0'];
    const all = settings.flatMap((setting) => ['--set', setting]);
    return readManifests(execFileSync('helm', [...args, ...all], { encoding: 'utf8', stdio: 'pipe' }));
  }

  const SERVER = 'apiServer.host=api.example';

  itWithHelm('asks for what the program has', () =>
    checkWorkload(template(SERVER), `ipvs-proxier:${packageJson.version}`),
  );

  itWithHelm('gives the DaemonSet of the base', () => {
    const chart = readDaemonSet(only(template(SERVER), 'DaemonSet'));
    const base = readDaemonSet(only(resolveByHand('deploy/base'), 'DaemonSet'));
    const backEnd = (container: Container) => container.env.find(({ name }) => name === 'IPTABLES_BACKEND')?.value;
    expect(containersOf(chart).map(backEnd)).to.deep.equal(['auto', 'auto']);
    const withoutBackEnd = (container: Container) => ({
      ...container,
      image: '',
      env: container.env.filter(({ name }) => name !== 'IPTABLES_BACKEND'),
    });
    expect(containersOf(chart).map(withoutBackEnd)).to.deep.equal(containersOf(base).map(withoutBackEnd));
    expect(chart.template.spec.volumes).to.deep.equal(base.template.spec.volumes);
  });

  const servers: readonly (readonly [host: string, port: string, seen: string])[] = [
    ['api.example', '6443', 'api.example 6443'],
    ['192.0.2.1', '443', '192.0.2.1 443'],
    ['fd00::1', '6443', 'fd00::1 6443'],
  ];
  for (const [host, port, seen] of servers) {
    itWithHelm(`hands on API server ${host}, port ${port}`, () => {
      const objects = template(`apiServer.host=${host}`, `apiServer.port=${port}`);
      const { data = {} } = only(objects, 'ConfigMap', 'ipvs-proxier-api-server');
      expect(`${data.KUBERNETES_SERVICE_HOST} ${data.KUBERNETES_SERVICE_PORT}`).to.equal(seen);
    });
  }

  itWithHelm('does not guess the API server', () => {
    expect(() => template()).to.throw(/apiServer\.host is needed/);
  });

  itWithHelm('brings monitoring where it is asked to', () => {
    expect(template(SERVER).map(({ kind }) => kind)).to.not.include('Service');
    const settings = ['serviceMonitor', 'prometheusRule', 'dashboards'].map((name) => `${name}.enabled=true`);
    const objects = template(SERVER, ...settings);
    const plain = resolveByHand('deploy/monitoring');
    expect(only(objects, 'PrometheusRule').spec).to.deep.equal(only(plain, 'PrometheusRule').spec);
    expect(
      JSON.parse(only(objects, 'ConfigMap', 'ipvs-proxier-dashboard').data?.['dashboard.json'] ?? ''),
    ).to.deep.equal(JSON.parse(only(plain, 'ConfigMap', 'ipvs-proxier-dashboard').data?.['dashboard.json'] ?? ''));
    const { endpoints } = only(objects, 'ServiceMonitor').spec as { readonly endpoints: unknown };
    expect(endpoints).to.deep.equal((only(plain, 'ServiceMonitor').spec as { readonly endpoints: unknown }).endpoints);
  });

  itWithHelm('runs privileged, and with other addresses of the API server, where it is told to', () => {
    const objects = template(SERVER, 'privileged=true', 'apiServer.others[0]=https://192.0.2.2:6443', 'image.digest=');
    const [, main] = containersOf(readDaemonSet(only(objects, 'DaemonSet')));
    expect(main?.securityContext).to.deep.equal({ readOnlyRootFilesystem: true, runAsUser: 0, privileged: true });
    const [, own] = (only(objects, 'ConfigMap', 'ipvs-proxier').data?.['config.yaml'] ?? '').split('\n---\n');
    expect(parse(own ?? '').apiServers).to.deep.equal(['https://192.0.2.2:6443']);
  });
});
