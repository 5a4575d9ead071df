import { expect } from 'chai';
import { FLAGS } from '../../src/config/flags.ts';
import { runProgram } from './program.ts';

describe('test/cli/help', () => {
  /** What the help says of each option, in one line. */
  async function descriptions(...words: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { stdout, exitCode } = await runProgram([...words, '--help']);
    expect(exitCode).to.equal(0);
    const paragraphs = stdout.split(/\n\n/).map((paragraph) => paragraph.replaceAll(/\n {7,}/g, ' '));
    const options = paragraphs.flatMap((paragraph) => [...paragraph.matchAll(/^ +(?:-\w, )?-{1,2}([\w-]+) +(.*)$/gm)]);
    return new Map(options.map(([, name = '', text = '']) => [name, text]));
  }

  it('says of every flag that is no boolean, and of no other, that it takes a text', async () => {
    const shown = await descriptions('run');
    for (const { name, type } of FLAGS) {
      const isText = type !== 'bool' && type !== 'version';
      expect(shown.get(name)?.includes('[string]'), name).to.equal(isText);
    }
    expect(shown.get('dry-run')).to.not.include('[string]');
    expect((await descriptions('explain')).get('kernel')).to.not.include('[string]');
    expect((await descriptions('cleanup')).get('dry-run')).to.not.include('[string]');
  });

  it('says nothing twice of a flag', async () => {
    for (const [name, text] of await descriptions('run')) {
      const sentences = text.match(/[A-Z][^.:()[\]]{8,}\./g) ?? [];
      expect([...new Set(sentences)], name).to.deep.equal(sentences);
    }
  });
});
