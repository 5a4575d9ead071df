import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import type { Commands } from '../../src/cli/arguments.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { loadConfig } from '../../src/config/load.ts';
import { itWithKubectl } from '../apiserver/kubectl.ts';
import { checkWorkload } from './check-workload.ts';
import { only, readManifests, TOP } from './kustomize.ts';

const PAGES = [
  { page: 'README.md', path: 'README.md' },
  ...['docs/how-to', 'docs/tutorials'].flatMap((folder) =>
    readdirSync(join(TOP, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ page: name, path: join(folder, name) })),
  ),
];
const read = (path: string) => readFileSync(join(TOP, path), 'utf8');

describe('test/deploy/pages', () => {
  for (const { page, path: file } of PAGES) {
    const text = read(file);

    for (const command of programCommands(text)) {
      it(`${page}: ${command}`, async () => {
        expect(await understand(command.split(/\s+/).slice(1))).to.deep.equal([]);
      });
    }

    it(`${page} has settings that the program takes as they stand`, () => {
      const files = blocks(text, 'yaml').filter((block) => block.includes('kind: KubeProxyConfiguration'));
      const problems = files.flatMap((file) => {
        const loaded = loadConfig({ file: { name: page, text: file }, flags: {} });
        return loaded.ok ? loaded.value.notices : loaded.error.map(({ field, message }) => `${field}: ${message}`);
      });
      expect(problems).to.deep.equal([]);
    });

    it(`${page} has YAML and shell that can be read`, () => {
      const errors = blocks(text, 'yaml').flatMap((block) =>
        parseAllDocuments(block).flatMap((document) => document.errors),
      );
      expect(errors).to.deep.equal([]);
      for (const block of blocks(text, 'sh')) execFileSync('bash', ['-n'], { input: block, stdio: 'pipe' });
    });

    it(`${page} leads to pages, headings and files that are there`, () => {
      const links = [...text.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target]) => target ?? '');
      const missing = links.filter((target) => {
        const [path = '', heading] = target.split('#');
        const whole = path === '' ? join(TOP, file) : join(TOP, dirname(file), path);
        return (
          !existsSync(whole) || (heading !== undefined && !headings(readFileSync(whole, 'utf8')).includes(heading))
        );
      });
      const files = [...text.matchAll(/\b(?:deploy|hack|docs)\/[\w/.-]*\w/g)].map(([path]) => path);
      const isOurs = (path: string) => !text.includes(`cluster/addons/${path}`) && !text.includes(`my-cluster/${path}`);
      expect([...missing, ...files.filter((path) => isOurs(path) && !existsSync(join(TOP, path)))]).to.deep.equal([]);
    });

    it(`${page} names sets, chains and metrics that are there`, () => {
      const objects = read('docs/reference/kernel-objects.md');
      const metrics = read('docs/reference/metrics.md');
      const kernel = [...text.matchAll(/\bKUBE-[A-Z0-9-]*[A-Z0-9]/g)].map(([name]) => name);
      const measured = [...text.matchAll(/\bipvs_proxier_(\w+)/g)].map(([, name]) => name ?? '');
      const ofTheKubelet = ['KUBE-KUBELET-CANARY', 'KUBE-FIREWALL'];
      expect(kernel.filter((name) => !ofTheKubelet.includes(name) && !objects.includes(name))).to.deep.equal([]);
      expect(measured.filter((name) => !metrics.includes(`\`${name}\``))).to.deep.equal([]);
    });
  }

  it("takes kubeadm's file over with what the page on migrating does to it", () => {
    const sed = /sed '(s#\^ {2}kubeconfig[^']*)'/.exec(read('docs/how-to/migrate.md'))?.[1] ?? '';
    const vendor = parseAllDocuments(read('test/config/vendors/kubeadm.yaml'))[0]?.toJS();
    const text = execFileSync('sed', [sed], { input: vendor.data['config.conf'], encoding: 'utf8' });
    const loaded = loadConfig({ file: { name: 'config.yaml', text }, flags: {} });
    if (!loaded.ok) throw new Error(loaded.error.map(({ message }) => message).join('; '));
    const { clientConnection, metricsBindAddress, clusterCIDRs } = loaded.value;
    expect(clientConnection.kubeconfig).to.equal(undefined);
    expect(metricsBindAddress).to.deep.equal({ address: '0.0.0.0', port: 10249 });
    expect(clusterCIDRs.map(String)).to.deep.equal(['10.244.0.0/16']);
  });

  itWithKubectl('makes a folder of one’s own as the pages on deploying and migrating say', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'my-cluster-'));
    try {
      cpSync(join(TOP, 'deploy'), join(folder, 'deploy'), { recursive: true });
      mkdirSync(join(folder, 'my-cluster'));
      const own = join(folder, 'my-cluster/kustomization.yaml');
      cpSync(join(folder, 'deploy/overlays/kubeadm/config.yaml'), join(folder, 'my-cluster/config.yaml'));
      const text = /kustomization\.yaml <<'EOF'\n([\s\S]*?)\nEOF\n/.exec(read('docs/how-to/deploy.md'))?.[1] ?? '';
      const patch = blocks(read('docs/how-to/migrate.md'), 'yaml').find((block) => block.startsWith('patches:')) ?? '';
      writeFileSync(own, `${text}\n${patch}`);
      const built = execFileSync('kubectl', ['kustomize', dirname(own)], { encoding: 'utf8' });
      const objects = readManifests(built.replace(/\b(ipvs-proxier(?:-api-server)?)-[0-9a-z]{10}$/gm, '$1'));
      await checkWorkload(objects, 'REGISTRY/ipvs-proxier:0.1.0');
      const { template } = only(objects, 'DaemonSet').spec as { template: { spec: { nodeSelector: object } } };
      expect(template.spec.nodeSelector).to.deep.equal({ 'ipvs-proxier': 'true', 'kubernetes.io/os': 'linux' });
      const { data } = only(objects, 'ConfigMap', 'ipvs-proxier-api-server');
      expect(data).to.deep.equal({ KUBERNETES_SERVICE_HOST: '192.0.2.1', KUBERNETES_SERVICE_PORT: '6443' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('keeps kube-proxy off the nodes that are labelled for us', () => {
    const patch = /patch daemonset kube-proxy -p '(\{[\s\S]*?\})'/.exec(read('docs/how-to/migrate.md'))?.[1] ?? '';
    const { nodeAffinity } = parse(patch).spec.template.spec.affinity;
    const { nodeSelectorTerms } = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    expect(nodeSelectorTerms).to.deep.equal([
      { matchExpressions: [{ key: 'ipvs-proxier', operator: 'DoesNotExist' }] },
    ]);
  });
});

function blocks(text: string, language: string): readonly string[] {
  const found = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'));
  return [...found].map(([, indent = '', block = '']) => block.replace(new RegExp(`^${indent}`, 'gm'), ''));
}

/** Calls of the program in blocks and in the running text, each as one line; what stands behind a pipe or `>` is not part of it. */
function programCommands(text: string): readonly string[] {
  const lines = blocks(text, 'sh')
    .join('\n')
    .replace(/\\\n\s*/g, ' ')
    .split('\n');
  const inText = [...text.matchAll(/`(kubectl [^`\n]* -- ipvs-proxier [^`\n]*)`/g)].map(([, command]) => command ?? '');
  const calls = [...lines, ...inText].flatMap((line) => {
    const [, rest] =
      /(?:^|-- |\| )(?:\/opt\/ipvs-proxier\/bin\/ipvs-proxier|ipvs-proxier|npx --no-install node src\/main\.ts|node_modules\/\.bin\/node src\/main\.ts)( .*)$/.exec(
        line,
      ) ?? [];
    return rest === undefined ? [] : [`ipvs-proxier${rest.split(/ [|>]|;/)[0]}`];
  });
  return [...new Set(calls)];
}

/** What is wrong with a command line, a line each. */
async function understand(args: readonly string[]): Promise<readonly string[]> {
  const told: string[] = [];
  const commands = new Proxy({}, { get: () => async () => 0 }) as Commands;
  const terminal = { output: async () => {}, error: (line: string) => void told.push(line), input: async () => '' };
  await runCommandLine(args, '0.0.0', commands, terminal);
  return told;
}

/** Names by which the headings of a page can be linked to. */
function headings(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
