import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TOP } from './kustomize.ts';

/** What `iptables-save` and `ip6tables-save` of one back end print. */
interface Saved {
  readonly IPv4?: readonly string[];
  readonly IPv6?: readonly string[];
}

const HINT = ':KUBE-IPTABLES-HINT - [0:0]';
const CANARY = ':KUBE-KUBELET-CANARY - [0:0]';
const OURS = [':KUBE-SERVICES - [0:0]', ':KUBE-POSTROUTING - [0:0]', '-A PREROUTING -j KUBE-SERVICES'];
const OTHERS = ['-A INPUT -i lo -j ACCEPT', '-A INPUT -j DROP'];

describe('test/deploy/entrypoint', () => {
  let home: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'image-'));
    mkdirSync(join(home, 'bin'));
    copyFileSync(join(TOP, 'deploy/image/entrypoint.sh'), join(home, 'bin/ipvs-proxier'));
    script('bin/node', 'echo "$(command -v iptables-restore) $*"');
    for (const backEnd of ['legacy', 'nft']) {
      mkdirSync(join(home, 'iptables', backEnd), { recursive: true });
      for (const tool of ['iptables', 'ip6tables']) {
        script(`iptables/${backEnd}/${tool}`, `echo "$0 $*" >>${home}/called`);
        script(`iptables/${backEnd}/${tool}-restore`, 'exit 0');
      }
    }
    saved('legacy', {});
    saved('nft', {});
  });
  afterEach(() => rmSync(home, { recursive: true }));

  function script(path: string, text: string): void {
    writeFileSync(join(home, path), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  function saved(backEnd: 'legacy' | 'nft', { IPv4 = [], IPv6 = [] }: Saved): void {
    const print = (lines: readonly string[]) => lines.map((line) => `echo '${line}'`).join('\n');
    script(`iptables/${backEnd}/iptables-save`, print(IPv4));
    script(`iptables/${backEnd}/ip6tables-save`, print(IPv6));
  }

  /** Back end that the program is started with, its arguments, and what was said. */
  function start(args: readonly string[] = ['run'], environment: NodeJS.ProcessEnv = {}) {
    const env = { PATH: process.env.PATH, ...environment };
    const { status, stdout, stderr } = spawnSync(join(home, 'bin/ipvs-proxier'), args, { encoding: 'utf8', env });
    const [, backEnd, rest] = /\/iptables\/(\w+)\/iptables-restore (.*)$/m.exec(stdout) ?? [];
    return { status, backEnd, rest: rest?.replace(`${home}/`, ''), said: stderr.trim() };
  }

  const left = (used: string, count: number, other: string) =>
    `ipvs-proxier: iptables-${used} is used; ${count} chains and rules of Kubernetes are left in iptables-${other}, and in force: iptables-${other}-save | grep KUBE-`;
  const cases: readonly {
    readonly name: string;
    readonly legacy?: Saved;
    readonly nft?: Saved;
    readonly used: 'legacy' | 'nft';
    readonly said?: string;
  }[] = [
    { name: 'R136: uses legacy where the kubelet does', legacy: { IPv4: [HINT] }, used: 'legacy' },
    { name: 'R136: uses nft where the kubelet does', nft: { IPv4: [CANARY] }, used: 'nft' },
    { name: 'R136: looks at IPv6 too', legacy: { IPv6: [CANARY] }, used: 'legacy' },
    {
      name: 'R136: goes by the kubelet rather than by what a proxy has left, and tells of that',
      legacy: { IPv4: OURS },
      nft: { IPv4: [HINT] },
      used: 'nft',
      said: left('nft', 3, 'legacy'),
    },
    {
      name: 'R136: uses the one with more rules of Kubernetes where both have the chain of the kubelet, and tells of the other',
      legacy: { IPv4: [HINT, ...OURS] },
      nft: { IPv4: [HINT] },
      used: 'legacy',
      said: left('legacy', 1, 'nft'),
    },
    {
      name: 'R136: uses the one with more rules of Kubernetes where none has the chain of the kubelet',
      legacy: { IPv4: OTHERS },
      nft: { IPv6: OURS },
      used: 'nft',
    },
    { name: 'uses the one with more rules where none is of Kubernetes', legacy: { IPv4: OTHERS }, used: 'legacy' },
    { name: 'uses nft where nothing is', used: 'nft' },
  ];
  for (const { name, legacy = {}, nft = {}, used, said = '' } of cases) {
    it(name, () => {
      saved('legacy', legacy);
      saved('nft', nft);
      expect(start()).to.deep.equal({
        status: 0,
        backEnd: used,
        rest: '--max-semi-space-size=8 src/main.js run',
        said,
      });
    });
  }

  it('uses nft where neither tool works', () => {
    for (const backEnd of ['legacy', 'nft']) script(`iptables/${backEnd}/iptables-save`, 'echo no >&2; exit 1');
    expect(start()).to.deep.equal({
      status: 0,
      backEnd: 'nft',
      rest: '--max-semi-space-size=8 src/main.js run',
      said: '',
    });
  });

  it('uses what it is told to, without looking', () => {
    saved('nft', { IPv4: [HINT] });
    expect(start(['run'], { IPTABLES_BACKEND: 'legacy' }).backEnd).to.equal('legacy');
    const refused = start(['run'], { IPTABLES_BACKEND: 'ebpf' });
    expect([refused.status, refused.said]).to.deep.equal([
      2,
      'ipvs-proxier: IPTABLES_BACKEND is "ebpf", but can be legacy, nft or auto only',
    ]);
  });

  it('hands on arguments as they are, and the status', () => {
    script('bin/node', 'shift 2; printf "[%s]" "$@"; exit 3');
    const { status, stdout } = spawnSync(join(home, 'bin/ipvs-proxier'), ['render', '-f', 'a b', ''], {
      encoding: 'utf8',
    });
    expect([status, stdout]).to.deep.equal([3, '[render][-f][a b][]']);
  });

  it('is the tool of that back end where it is called by the name of one, and says nothing then', () => {
    symlinkSync('ipvs-proxier', join(home, 'bin/iptables-save'));
    saved('legacy', { IPv4: [HINT, '-A INPUT -j DROP'] });
    saved('nft', { IPv4: OURS });
    const { stdout, stderr } = spawnSync(join(home, 'bin/iptables-save'), [], { encoding: 'utf8' });
    expect([stdout, stderr]).to.deep.equal([`${HINT}\n-A INPUT -j DROP\n`, '']);
  });

  it("loads legacy's tables in the init container, which alone may", () => {
    const loaded = (args: readonly string[], backEnd: string) => {
      rmSync(join(home, 'called'), { force: true });
      start(args, { IPTABLES_BACKEND: backEnd });
      const { stdout } = spawnSync('cat', [join(home, 'called')], { encoding: 'utf8' });
      return [...stdout.matchAll(/\/(ip6?tables) -w 5 -t (\w+)/g)].map(([, tool, table]) => `${tool} ${table}`);
    };
    expect(loaded(['run', '--init-only', '--config=c'], 'legacy')).to.deep.equal([
      'iptables nat',
      'iptables filter',
      'ip6tables nat',
      'ip6tables filter',
    ]);
    expect(loaded(['run', '--config=c'], 'legacy')).to.deep.equal([]);
    expect(loaded(['run', '--init-only'], 'nft')).to.deep.equal([]);
  });
});
