import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { execa } from 'execa';

/** Sourced by the others; no script of its own. */
const SOURCED = 'help.sh';

describe('hack/help', () => {
  const folder = new URL('.', import.meta.url).pathname;
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.sh') && each !== SOURCED)) {
    it(`is printed by ${name} without doing anything else`, async () => {
      const { stdout, stderr } = await execa('bash', [`${folder}${name}`, '--help'], {
        env: { PATH: '/usr/bin:/bin' },
      });
      expect(stdout).to.match(/^[A-Z]\w+ /);
      expect(stdout).to.not.match(/^#|^set /m);
      expect(stderr).to.equal('');
    });
  }
});
