import { expect } from 'chai';
import { readVersionFlag } from './version-flag.ts';

describe('cli/version-flag', () => {
  for (const value of [undefined, 'false', '0', 'F']) {
    it(`goes on with the program's own version for ${value}`, () =>
      expect(readVersionFlag(value, '1.2.3')).to.deep.equal({ ok: true, value: { kind: 'go-on', version: '1.2.3' } }));
  }

  for (const value of ['', 'true', '1', 'T']) {
    it(`prints the version for "${value}"`, () => {
      const text = 'ipvs-proxier 1.2.3\n';
      expect(readVersionFlag(value, '1.2.3')).to.deep.equal({ ok: true, value: { kind: 'print', text } });
    });
  }

  it('prints all that is known of the build for raw', () => {
    const wish = readVersionFlag('raw', '1.2.3-rc.1');
    expect(JSON.parse(wish.ok && wish.value.kind === 'print' ? wish.value.text : '')).to.deep.equal({
      major: '1',
      minor: '2',
      gitVersion: 'v1.2.3-rc.1',
      nodeVersion: process.version,
      platform: `${process.platform}/${process.arch}`,
    });
  });

  for (const version of ['1.33.2', '1.33.2-eks-1a2b', '0.1.0+build.5', '1.0.0-rc.1+5']) {
    it(`goes on under version ${version}`, () =>
      expect(readVersionFlag(`v${version}`, '1.2.3')).to.deep.equal({ ok: true, value: { kind: 'go-on', version } }));
  }

  for (const value of ['maybe', 'v', 'v1.2', 'v1.2.3 4', '1.2.3', 'vone']) {
    it(`refuses "${value}"`, () => {
      const wish = readVersionFlag(value, '1.2.3');
      expect(wish.ok || wish.error).to.equal(
        `--version: "${value}" is neither true, false or raw, nor a version such as v1.2.3`,
      );
    });
  }
});
