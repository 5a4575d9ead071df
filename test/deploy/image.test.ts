import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { billOfMaterials } from '../../hack/image/bill-of-materials.ts';
import { readDebianPackages } from '../../hack/image/debian-packages.ts';
import { readLockedPackages, readRuntimeVersion } from '../../hack/image/locked-packages.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { describeToolError, type Tool } from '../../src/apply/tool.ts';
import { TOP } from './kustomize.ts';

const read = (path: string) => readFileSync(join(TOP, path), 'utf8');
const TOOLS: readonly Tool[] = [
  'ipvsadm',
  'ipset',
  'ip',
  'iptables-restore',
  'ip6tables-restore',
  'iptables-save',
  'ip6tables-save',
  'iptables',
  'ip6tables',
  'modprobe',
  'conntrack',
];

describe('test/deploy/image', () => {
  const packages = read('deploy/image/packages').trim().split('\n');
  const dockerfile = read('Dockerfile');

  it('has the package of every tool that the program starts', () => {
    const needed = TOOLS.map((tool) => describeToolError({ kind: 'tool-missing', tool }).split(' ').at(-1) ?? '');
    expect(needed.filter((name) => !packages.includes(name))).to.deep.equal([]);
    expect(packages).to.deep.equal([...packages].sort());
  });

  it('is made from the list that its test is made from', () => {
    expect(dockerfile)
      .to.include('COPY deploy/image/packages /tmp/packages')
      .and.to.include('xargs -a /tmp/packages apt-get');
    expect(read('hack/image-test.sh')).to.include('deploy/image/packages').and.to.include('hack/image/build.ts');
    expect(dockerfile).to.include('hack/image/build.ts /out').and.to.include('COPY --from=build /out/ /');
  });

  it('starts what the build puts there', () => {
    expect(dockerfile).to.match(/^ENTRYPOINT \["\/opt\/ipvs-proxier\/bin\/ipvs-proxier"\]$/m);
    expect(dockerfile).to.match(/^ENV PATH=\/opt\/ipvs-proxier\/bin:/m);
    expect(dockerfile).to.include(`org.opencontainers.image.version=${packageJson.version} `);
    expect(dockerfile).to.include(`docker build -t ipvs-proxier:${packageJson.version} .`);
  });

  it('gets everything it copies', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path ?? '');
    expect(allowed.filter((path) => !existsSync(join(TOP, path)))).to.deep.equal([]);
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, words]) => words?.split(' ') ?? [],
    );
    const isAllowed = (path: string) =>
      path === '.' || allowed.some((each) => path === each || path.startsWith(`${each}/`));
    expect(copied.filter((path) => !isAllowed(path))).to.deep.equal([]);
    for (const path of ['LICENSE', 'src', 'tsconfig.json', 'tsconfig.build.json', 'hack/image']) {
      expect(allowed, path).to.include(path);
    }
  });

  it('reads which packages run from the lock file: those of the program, not those of its development', () => {
    const locked = readLockedPackages(join(TOP, 'package-lock.json'));
    const names = locked.map(({ name }) => name);
    expect(names).to.include.members(Object.keys(packageJson.dependencies));
    expect(names).to.not.include.members(['mocha']).and.to.not.include.members(['typescript']);
    expect(names.filter((name) => name.startsWith('@types/'))).to.deep.equal([]);
    expect(readRuntimeVersion(join(TOP, 'package-lock.json'))).to.equal(packageJson.devDependencies.node);
    expect(locked.find(({ name }) => name === 'yaml')).to.deep.include({
      path: 'node_modules/yaml',
      version: packageJson.dependencies.yaml,
      optional: false,
    });
  });

  it("reads what is installed from dpkg's status", () => {
    const status = [
      'Package: ipset\nStatus: install ok installed\nArchitecture: amd64\nVersion: 7.17-1\nDescription: x\n Source: no',
      'Package: libipset13\nStatus: install ok installed\nArchitecture: amd64\nSource: ipset (7.17-0)\nVersion: 7.17-1',
      'Package: gone\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1',
    ].join('\n\n');
    expect(readDebianPackages(`${status}\n`)).to.deep.equal([
      { name: 'ipset', version: '7.17-1', architecture: 'amd64', source: 'ipset' },
      { name: 'libipset13', version: '7.17-1', architecture: 'amd64', source: 'ipset' },
    ]);
  });

  it('has a bill of materials that names each thing once, and is the same for the same things', () => {
    const ingredients = {
      program: { name: 'ipvs-proxier', version: '0.1.0', license: 'Apache-2.0' },
      runtimeVersion: '26.10.0',
      npm: [
        {
          path: 'node_modules/@a/b',
          name: '@a/b',
          version: '1.0.0',
          integrity: 'sha512-AAEC',
          license: 'MIT',
          optional: false,
        },
        { path: 'node_modules/c/node_modules/@a/b', name: '@a/b', version: '1.0.0', optional: false },
      ],
      debian: [{ name: 'libstdc++6', version: '1:12-1', architecture: 'amd64', source: 'gcc-12' }],
    };
    const bill = billOfMaterials(ingredients);
    expect(bill.components.map(({ purl }) => purl)).to.deep.equal([
      'pkg:generic/nodejs@26.10.0',
      'pkg:npm/%40a/b@1.0.0',
      'pkg:deb/debian/libstdc%2B%2B6@1%3A12-1?arch=amd64&upstream=gcc-12',
    ]);
    expect(bill).to.deep.include({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
    expect(bill.serialNumber).to.match(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(billOfMaterials(ingredients)).to.deep.equal(bill);
    expect(billOfMaterials({ ...ingredients, debian: [] }).serialNumber).to.not.equal(bill.serialNumber);
  });

  it('has hashes of packages in hexadecimal, as CycloneDX wants them', () => {
    const npm = [{ path: 'node_modules/a', name: 'a', version: '1.0.0', integrity: 'sha512-AAEC', optional: false }];
    const program = { name: 'p', version: '1', license: 'MIT' };
    const { components } = billOfMaterials({ program, runtimeVersion: '1', npm, debian: [] });
    expect(components[1]?.hashes).to.deep.equal([{ alg: 'SHA-512', content: '000102' }]);
  });

  for (const path of [
    'hack/image-test.sh',
    'hack/image/in-image.sh',
    'hack/kind-up.sh',
    'deploy/image/entrypoint.sh',
  ]) {
    it(`${path} is a script that its shell can read`, () => {
      const shell = read(path).startsWith('#!/bin/sh') ? 'sh' : 'bash';
      expect(spawnSync(shell, ['-n', join(TOP, path)], { encoding: 'utf8' }).stderr).to.equal('');
    });
  }
});
