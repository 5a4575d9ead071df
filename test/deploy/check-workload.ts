import { expect } from 'chai';
import type { Commands, RunArguments } from '../../src/cli/arguments.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { ProxyConfig } from '../../src/config/proxy-config.ts';
import { type Manifest, only } from './kustomize.ts';
import { type Container, containersOf, readDaemonSet } from './workload.ts';

/** What the entry point of the image and the program read. */
const ENVIRONMENT = ['IPTABLES_BACKEND', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'];

/** What of a DaemonSet, its ConfigMaps and rights has to agree with the program, checked for one set of objects. */
export async function checkWorkload(objects: readonly Manifest[], image: string): Promise<void> {
  const manifest = only(objects, 'DaemonSet');
  const workload = readDaemonSet(manifest);
  const { spec, metadata } = workload.template;
  const [init, main] = [only1(spec.initContainers), only1(spec.containers)];
  const config = await checkArguments(init, main, objects);

  expect(containersOf(workload).map((container) => container.image)).to.deep.equal([image, image]);
  expect(metadata.labels).to.include(workload.selector.matchLabels);
  expect(metadata.labels).to.include({ 'k8s-app': 'kube-proxy', 'app.kubernetes.io/name': 'ipvs-proxier' });
  expect([spec.hostNetwork, spec.dnsPolicy, spec.priorityClassName, spec.tolerations]).to.deep.equal([
    true,
    'Default',
    'system-node-critical',
    [{ operator: 'Exists' }],
  ]);
  expect(workload.updateStrategy.rollingUpdate).to.deep.equal({ maxSurge: 0, maxUnavailable: '10%' });
  expect(only(objects, 'ServiceAccount').metadata.name).to.equal(spec.serviceAccountName);
  checkRights(init, main);
  checkPorts(main, config);
  for (const container of [init, main]) checkNames(container, workload.template.spec.volumes, objects);
  const server = objects.find(({ metadata: { name } }) => name === main.envFrom[0]?.configMapRef.name);
  expect(Object.keys(server?.data ?? {}).sort()).to.deep.equal(['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT']);
}

/** The program understands both command lines as meant, and the mounted file. */
async function checkArguments(init: Container, main: Container, objects: readonly Manifest[]): Promise<ProxyConfig> {
  const [prepare, serve] = [await understood(init.args), await understood(main.args)];
  expect([prepare.mode, serve.mode]).to.deep.equal(['init-only', 'daemon']);
  expect(serve.flags).to.deep.equal({ config: '/etc/ipvs-proxier/config.yaml', 'hostname-override': '$(NODE_NAME)' });
  expect(prepare.flags).to.deep.equal({ ...serve.flags, 'init-only': 'true' });
  for (const container of [init, main]) {
    expect(container.volumeMounts.filter(({ mountPath }) => mountPath === '/etc/ipvs-proxier')).to.have.length(1);
    const name = container.env.find((each) => each.name === 'NODE_NAME');
    expect(name?.valueFrom?.fieldRef.fieldPath).to.equal('spec.nodeName');
  }
  const file = objects.find(({ kind, data }) => kind === 'ConfigMap' && data?.['config.yaml'] !== undefined);
  const text = file?.data?.['config.yaml'] ?? '';
  const loaded = loadConfig({ file: { name: 'config.yaml', text }, flags: { 'hostname-override': 'node-a' } });
  if (!loaded.ok) throw new Error(loaded.error.map(({ field, message }) => `${field}: ${message}`).join('; '));
  expect(loaded.value.notices).to.deep.equal([]);
  expect(loaded.value.clientConnection.kubeconfig).to.equal(undefined);
  return loaded.value;
}

/** What the command line comes to; throws with what is wrong with it. */
async function understood(args: readonly string[]): Promise<RunArguments> {
  const told: string[] = [];
  const seen: RunArguments[] = [];
  const run = async (given: RunArguments) => {
    seen.push(given);
    return 0;
  };
  const another = () => Promise.reject(new Error(`${args.join(' ')}: another command`));
  const commands = new Proxy({}, { get: (_, name) => (name === 'run' ? run : another) }) as Commands;
  const terminal = { output: async () => {}, error: (line: string) => told.push(line), input: async () => '' };
  await runCommandLine(args, '0.0.0', commands, terminal);
  const [understood] = seen;
  if (understood === undefined) throw new Error(`${args.join(' ')}: ${told.join('; ')}`);
  return understood;
}

/** The init container alone is privileged and has the modules; the other one has what tools need, and no more. */
function checkRights(init: Container, main: Container): void {
  expect(init.securityContext).to.deep.equal({ privileged: true, readOnlyRootFilesystem: true });
  expect(main.securityContext).to.deep.equal({
    privileged: false,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsUser: 0,
    capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] },
    seLinuxOptions: { type: 'spc_t' },
    seccompProfile: { type: 'RuntimeDefault' },
  });
  const paths = (container: Container) => container.volumeMounts.map(({ mountPath }) => mountPath);
  expect(paths(init)).to.deep.equal(['/etc/ipvs-proxier', '/lib/modules', '/run/xtables.lock']);
  expect(paths(main)).to.deep.equal(['/etc/ipvs-proxier', '/run/xtables.lock']);
}

/** Ports are those that the configuration opens; probes ask for paths that are served there, and liveness never for readiness. */
function checkPorts(main: Container, { healthzBindAddress, metricsBindAddress }: ProxyConfig): void {
  const ports = Object.fromEntries(main.ports.map(({ name, containerPort }) => [name, containerPort]));
  expect(ports).to.deep.equal({ healthz: healthzBindAddress?.port, metrics: metricsBindAddress?.port });
  const probes = [main.startupProbe, main.livenessProbe, main.readinessProbe].map((probe) => probe?.httpGet);
  expect(probes).to.deep.equal([
    { path: '/livez', port: 'healthz' },
    { path: '/livez', port: 'healthz' },
    { path: '/healthz', port: 'healthz' },
  ]);
}

/** Whatever is named is there. */
function checkNames(container: Container, volumes: readonly { readonly name: string }[], objects: readonly Manifest[]) {
  const volumeNames = volumes.map(({ name }) => name);
  expect(container.volumeMounts.map(({ name }) => name).filter((name) => !volumeNames.includes(name))).to.deep.equal(
    [],
  );
  const used = [...container.args.join(' ').matchAll(/\$\((\w+)\)/g)].map(([, name]) => name);
  const given = container.env.map(({ name }) => name);
  expect(used.filter((name) => !given.includes(name ?? ''))).to.deep.equal([]);
  expect(given.filter((name) => !used.includes(name) && !ENVIRONMENT.includes(name))).to.deep.equal([]);
  const maps = objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name);
  expect(
    container.envFrom.map(({ configMapRef }) => configMapRef.name).filter((name) => !maps.includes(name)),
  ).to.deep.equal([]);
}

function only1<T>(list: readonly T[]): T {
  const [first] = list;
  if (first === undefined || list.length > 1) throw new Error(`${list.length} containers, not one`);
  return first;
}
