import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { commandsOf } from './tutorial.ts';

describe('hack/e2e/tutorial', () => {
  const page = readFileSync(new URL('../../docs/tutorials/kind.md', import.meta.url), 'utf8');

  it('leaves out what makes and deletes the cluster, and nothing else', () => {
    const left = page.split('\n').filter((line) => /^(bash|kind|kubectl config) /.test(line));
    expect(left).to.deep.equal([
      'bash hack/kind-up.sh',
      'kubectl config use-context kind-ipvs-proxier',
      'kind delete cluster --name ipvs-proxier',
    ]);
    const commands = commandsOf(page);
    for (const line of left) expect(commands).to.not.include(line);
    for (const line of page.split('\n').filter((each) => each.startsWith('kubectl ') && !left.includes(each))) {
      expect(commands).to.include(`${line}\n`);
    }
  });

  it('can be read by bash', () => {
    execFileSync('bash', ['-n'], { input: commandsOf(page), stdio: ['pipe', 'ignore', 'pipe'] });
  });
});
