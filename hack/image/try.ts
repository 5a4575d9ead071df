/** Tries the image's root file system in the lab; runs inside hack/lab.sh, called by hack/image-test.sh with the folder of that root. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { execa } from 'execa';
import { parse } from 'yaml';
import { startApiServer } from '../../test/apiserver/server.ts';
import { waitFor } from '../../test/lab/wait-for.ts';

const TOP = join(import.meta.dirname, '../..');
const [root = ''] = process.argv.slice(2);
if (process.env.IN_LAB === undefined)
  throw new Error('it changes the network it runs in: run it by hack/image-test.sh');

const PROGRAM = '/opt/ipvs-proxier/bin/ipvs-proxier';
const RENDER = ['--node', 'node-a', '--node-addresses', 'eth0=192.168.0.11/24', '--cluster-cidr', '10.244.0.0/16'];
const HINT = 'KUBE-KUBELET-CANARY';
type BackEnd = 'legacy' | 'nft';

const folder = mkdtempSync('/run/image-');
const counted = { passed: 0, failed: 0 };
const daemonset = readDocuments('deploy/base/daemonset.yaml').template.spec;
const api = await startApiServer({ token: 'token-of-the-pod' });
prepareFolder();
await prepareNode();

await check('prints its version', async () => {
  const { version } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
  expectEqual((await inImage('main', [PROGRAM, '--version'])).stdout, `ipvs-proxier ${version}`);
});
await check('renders the cart as the sources do', async () => {
  const input = readFileSync(join(TOP, 'docs/tutorials/cart.yaml'), 'utf8');
  const rendered = await inImage('main', [PROGRAM, 'render', '-f', '-', ...RENDER], { input });
  const { stdout } = await execa(process.execPath, [join(TOP, 'src/main.ts'), 'render', '-f', '-', ...RENDER], {
    input,
  });
  expectEqual(rendered.stdout, stdout);
});
await check('has a bill of materials', async () => {
  const { components } = JSON.parse(readFileSync(join(root, 'opt/ipvs-proxier/sbom.cdx.json'), 'utf8'));
  const names: readonly string[] = components.map(({ name }: { name: string }) => name);
  const wanted = ['node', '@kubernetes/client-node', 'ipvsadm', 'ipset', 'iptables', 'conntrack', 'iproute2', 'kmod'];
  expectEqual(
    wanted.filter((name) => !names.includes(name)),
    [],
  );
});
const backEnds: readonly BackEnd[] = (await hasNft()) ? ['legacy', 'nft'] : ['legacy'];
if (backEnds.length === 1) process.stdout.write('NOT RUN iptables-nft: this kernel has no nf_tables for IPv4\n');
for (const backEnd of backEnds) {
  const other = backEnd === 'legacy' ? 'nft' : 'legacy';
  await check(
    `serves with iptables-${backEnd} where the kubelet uses that, and leaves iptables-${other} alone`,
    async () => {
      await rules(backEnd, ['-t', 'mangle', '-N', HINT]);
      await inPod(async () => {
        expectEqual(await get('http://10.96.0.10/'), 'hello from the cart\n');
        const served = [await chains(backEnd), await chains(other)].map((names) => names.includes('KUBE-SERVICES'));
        expectEqual(served, [true, false]);
        expectEqual((await inImage('main', ['iptables-save'])).stdout.includes(':KUBE-SERVICES'), true);
        expectEqual(await ask('http://127.0.0.1:10256/healthz'), 200);
        expectEqual(await ask('http://127.0.0.1:10249/metrics'), 200);
        const { hostname, port } = new URL(api.url);
        const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
        for (const command of debuggingCommands()) await inImage('main', ['sh', '-c', command], { env });
      });
      expectEqual(await get('http://10.96.0.10/'), 'hello from the cart\n');
      await forget(backEnd);
    },
  );
}
if (backEnds.length > 1) {
  await check('tells of what is left in the other back end', async () => {
    await rules('nft', ['-t', 'mangle', '-N', HINT]);
    await rules('legacy', ['-t', 'nat', '-N', 'KUBE-SERVICES']);
    const { stderr } = await inImage('main', [PROGRAM, '--version']);
    expectEqual(
      /iptables-nft is used; 1 chains and rules of Kubernetes are left in iptables-legacy/.test(stderr),
      true,
    );
  });
}
await api.stop();
process.stdout.write(`${counted.passed} passed, ${counted.failed} failed\n`);
process.exit(counted.failed > 0 ? 1 : 0);

async function check(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    counted.passed += 1;
    process.stdout.write(`  ok ${name}\n`);
  } catch (error) {
    counted.failed += 1;
    process.stdout.write(`  FAILED ${name}\n${error instanceof Error ? error.message : String(error)}\n`);
  }
}

function expectEqual(seen: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(seen, wanted))
    throw new Error(`seen ${JSON.stringify(seen)}, wanted ${JSON.stringify(wanted)}`);
}

function readDocuments(path: string) {
  return parse(readFileSync(join(TOP, path), 'utf8')).spec;
}

/** What the kubelet would mount: the configuration of overlay kind, the service account, the lock. */
function prepareFolder(): void {
  mkdirSync(join(folder, 'config'));
  mkdirSync(join(folder, 'serviceaccount'));
  cpSync(join(TOP, 'deploy/overlays/kind/config.yaml'), join(folder, 'config/config.yaml'));
  writeFileSync(join(folder, 'serviceaccount/token'), 'token-of-the-pod');
  writeFileSync(join(folder, 'serviceaccount/ca.crt'), api.ca ?? '');
  writeFileSync(join(folder, 'xtables.lock'), '', { mode: 0o600 });
}

/** The node of docs/tutorials/one-node.sh with its pod, and the same objects in the API server. */
async function prepareNode(): Promise<void> {
  mkdirSync(join(folder, 'web'));
  writeFileSync(join(folder, 'web/index.html'), 'hello from the cart\n');
  const batch = [
    'link add eth0 type dummy',
    'link set eth0 up',
    'address add 192.168.0.11/24 dev eth0',
    'netns add pod',
    'link add pod0 type veth peer name eth0 netns pod',
    'link set pod0 up',
    'address add 10.180.1.1/32 dev pod0',
    'route add 10.180.1.11 dev pod0',
  ];
  await execa('ip', ['-batch', '-'], { input: `${batch.join('\n')}\n` });
  const pod = [
    'link set lo up',
    'link set eth0 up',
    'address add 10.180.1.11/32 dev eth0',
    'route add 10.180.1.1 dev eth0',
  ];
  await execa('ip', ['-n', 'pod', '-batch', '-'], { input: `${pod.join('\n')}\nroute add default via 10.180.1.1\n` });
  const server = ['/usr/bin/python3', '-m', 'http.server', '--directory', join(folder, 'web'), '8080'];
  execa('ip', ['netns', 'exec', 'pod', ...server], { stdio: 'ignore', reject: false });
  for (const object of parse(readFileSync(join(TOP, 'docs/tutorials/cart.yaml'), 'utf8')).items) api.apply(object);
}

/** Both containers of the DaemonSet's Pod, with its arguments; `during` runs once the Pod is ready. The daemon has to end with status 0. */
async function inPod(during: () => Promise<void>): Promise<void> {
  const words = (args: readonly string[]) => args.map((arg) => arg.replace('$(NODE_NAME)', 'node-a'));
  await inImage('init', [PROGRAM, ...words(daemonset.initContainers[0].args)]);
  const { hostname, port } = new URL(api.url);
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  const daemon = inImage('main', [PROGRAM, ...words(daemonset.containers[0].args)], { env, reject: false });
  const log: string[] = [];
  daemon.all?.on('data', (chunk) => log.push(String(chunk)));
  try {
    const isHealthy = (status: number) => status === 200;
    await waitFor('readiness', () => ask('http://127.0.0.1:10256/healthz'), isHealthy, { timeoutMs: 60_000 });
    await during();
    daemon.kill('SIGTERM');
    expectEqual((await daemon).exitCode, 0);
  } catch (error) {
    daemon.kill('SIGKILL');
    throw new Error(
      `${error instanceof Error ? error.message : error}; the daemon said:\n${log.join('').slice(0, 4000)}`,
    );
  }
}

function inImage(container: 'init' | 'main', command: readonly string[], { input = '', env = {}, reject = true } = {}) {
  const words = [join(TOP, 'hack/image/in-image.sh'), root, container, folder, ...command];
  return execa('bash', words, { input, env, all: true, reject, timeout: 120_000 });
}

/** What docs/how-to/debug-service.md has people run in the container; its examples are the cart of the tutorial. Each has to succeed. */
function debuggingCommands(): readonly string[] {
  const text = readFileSync(join(TOP, 'docs/how-to/debug-service.md'), 'utf8');
  const flags = '--config=/etc/ipvs-proxier/config.yaml --hostname-override=node-a';
  const commands = [...text.matchAll(/^at (.+)$/gm)].map(([, command = '']) => command.replace('FLAGS', flags));
  if (commands.length < 10) throw new Error(`only ${commands.length} commands in the page on debugging`);
  return commands;
}

async function hasNft(): Promise<boolean> {
  const made = await inImage('init', ['nft', 'add', 'table', 'ip', 'try']).catch(() => undefined);
  if (made) await inImage('init', ['nft', 'delete', 'table', 'ip', 'try']);
  return made !== undefined;
}

function rules(backEnd: BackEnd, args: readonly string[]) {
  return inImage('init', [`/opt/ipvs-proxier/iptables/${backEnd}/iptables`, ...args]);
}

async function chains(backEnd: BackEnd): Promise<readonly string[]> {
  const { stdout } = await inImage('init', [`/opt/ipvs-proxier/iptables/${backEnd}/iptables-save`]);
  return [...stdout.matchAll(/^:(\S+)/gm)].map(([, name]) => name ?? '');
}

/** Empties the tables of a back end, and IPVS, as after a reboot. */
async function forget(backEnd: BackEnd): Promise<void> {
  for (const tool of ['iptables', 'ip6tables']) {
    for (const table of ['nat', 'filter', 'mangle']) {
      for (const flag of ['-F', '-X']) {
        await inImage('init', [`/opt/ipvs-proxier/iptables/${backEnd}/${tool}`, '-t', table, flag]);
      }
    }
  }
  await inImage('init', ['ipvsadm', '-C']);
  await inImage('init', ['ip', 'link', 'delete', 'kube-ipvs0']);
}

async function get(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
}

async function ask(url: string): Promise<number> {
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).status;
}
