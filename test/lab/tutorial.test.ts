import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { execa } from 'execa';

const TOP = new URL('../../', import.meta.url).pathname;

/** A network and namespaces of its own, and an end to all that it leaves running. */
const APART = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
const SCRIPT = 'mkdir -p /run/netns && mount -t tmpfs none /run/netns && exec bash docs/tutorials/one-node.sh';

describe('test/lab/tutorial', () => {
  it('prints for the node by hand what the page shows', async () => {
    const page = readFileSync(`${TOP}docs/tutorials/lab.md`, 'utf8');
    const shown = /^```\n(cluster address: [\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
    const { stdout } = await execa('unshare', [...APART, 'bash', '-c', SCRIPT], { cwd: TOP });
    const printed = linesOf(stdout);
    const wanted = linesOf(shown);
    expect(wanted).to.have.length.at.least(8);
    expect(printed).to.include.members(wanted);
    expect(wanted).to.deep.equal(printed.filter((line) => wanted.includes(line)));
  });
});

/** Without the width of columns. */
function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '');
}
