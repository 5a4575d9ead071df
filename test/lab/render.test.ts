import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { stringify } from 'yaml';
import { loadCases } from '../kernel/cases.ts';
import { requireLab } from './in-lab.ts';
import { cleanRules, parseAddresses, parseSets, sortedLines } from './kernel-state.ts';

const NAMESPACE = 'render';
const PROGRAM = join(import.meta.dirname, '../../src/main.ts');
const CASES = [
  'nodeport/nodeport-every-local-address.yaml',
  'protocols/udp-and-tcp-same-port.yaml',
  'protocols/sctp-nodeport-per-address.yaml',
  'dual-stack-ipv6/dual-stack-each-family-its-own-endpoints.yaml',
  'session-affinity/affinity-clientip-default-timeout.yaml',
  'source-ranges/source-ranges-node-not-included.yaml',
];

describe('test/lab/render', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'ipvs-proxier-render-')), 'objects.yaml');

  before('objects of several vectors in one file, and an empty node', async () => {
    requireLab();
    const cases = loadCases().filter(({ path }) => CASES.includes(path));
    expect(cases.length, 'vectors found').to.equal(process.env.CASES_DIR ? cases.length : CASES.length);
    const items = cases.flatMap(({ content }) => content.steps[0]?.apply ?? []);
    writeFileSync(file, stringify({ apiVersion: 'v1', kind: 'List', items }));
    await execa('ip', ['netns', 'add', NAMESPACE]);
    await execa('ip', ['-n', NAMESPACE, 'link', 'set', 'lo', 'up']);
  });

  after(() => execa('ip', ['netns', 'delete', NAMESPACE]));

  const render = async (form: string): Promise<string> => {
    const addresses = 'eth0=192.168.0.10/24,fd00:168::10/64';
    const args = [PROGRAM, 'render', '-f', file, '--node', 'node-a', '--node-addresses', addresses, '-o', form];
    return (await execa(process.execPath, args, { stripFinalNewline: false })).stdout;
  };
  const inside = async (command: string, input = ''): Promise<string> => {
    const { stdout, stderr } = await execa('nsenter', [`--net=/run/netns/${NAMESPACE}`, ...command.split(' ')], {
      input,
    });
    expect(stderr, `${command}: stderr`).to.equal('');
    return stdout;
  };

  it('gives sets that `ipset restore` takes and `ipset save` shows the same', async () => {
    const text = await render('ipset');
    await inside('ipset restore', text);
    const wanted = parseSets(text.replace(/,6:/g, ',tcp:').replace(/,17:/g, ',udp:').replace(/,132:/g, ',sctp:'));
    expect(parseSets(await inside('ipset save'))).to.deep.equal(wanted);
    expect([...wanted.values()].flat().length).to.be.greaterThan(10);
  });

  for (const tool of ['iptables', 'ip6tables'] as const) {
    it(`gives rules that \`${tool}-restore\` takes and \`${tool}-save\` shows the same`, async () => {
      const text = await render(tool);
      await inside(`${tool}-restore --noflush`, text);
      const saved = cleanRules(await inside(`${tool}-save`))
        .split('\n')
        .filter((line) => line.startsWith('-A KUBE-'));
      expect(saved.sort()).to.deep.equal(
        text
          .split('\n')
          .filter((line) => line.startsWith('-A KUBE-'))
          .sort(),
      );
      expect(saved.length).to.be.greaterThan(15);
    });
  }

  it('gives virtual servers that `ipvsadm -R` takes and `ipvsadm -Sn` shows the same', async () => {
    const text = await render('ipvs');
    await inside('ipvsadm -R', text);
    expect(sortedLines(await inside('ipvsadm -Sn'))).to.deep.equal(sortedLines(text));
    expect(text.split('\n').length).to.be.greaterThan(20);
  });

  it('gives addresses that `ip -batch` takes and `ip address` shows the same', async () => {
    const text = await render('address');
    await inside('ip -batch -', text);
    const wanted = [...text.matchAll(/address replace (\S+) dev/g)].map(([, address]) => address ?? '');
    expect(
      parseAddresses(await inside('ip -oneline address show dev kube-ipvs0')).map((address) =>
        address.replace(/^([^/]*:[^/]*)\/32$/, '$1/128'),
      ),
    ).to.deep.equal([...wanted].sort());
    expect(wanted.length).to.be.greaterThan(4);
  });
});
