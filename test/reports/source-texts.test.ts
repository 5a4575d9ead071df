import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { textsOf } from './source-texts.ts';

describe('test/reports/source-texts', () => {
  it('finds strings and templates, also those inside of templates, and passes over comments and patterns', () => {
    const code = [
      "const a = 'one'; // 'not this'",
      '/* "nor this" */ const b = "it\'s two";',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
      "const c = `three ${count > 1 ? `four ${d}` : { e: 'five' }.e} six`;",
      "const f = /['`\"/]'/.test(g) ? 'seven' : h / 2;",
      "const i = 'eight\\'s';",
    ].join('\n');
    const found = ['one', "it's two", 'four …', 'five', 'three … six', 'seven', "eight's"];
    expect(textsOf(code).map(({ text }) => text)).to.deep.equal(found);
  });

  it('tells the code before a text', () => {
    expect(textsOf("log.warn(\n  { a },\n  'words',\n);")[0]?.before).to.equal('log.warn( { a }, ');
  });

  it('reads every source file to its end: what begins a file and what ends it is there', () => {
    const folder = join(import.meta.dirname, '../../src');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
    for (const file of files) {
      const code = readFileSync(join(folder, file), 'utf8');
      const texts = textsOf(`'first';${code}\n'last';`).map(({ text }) => text);
      expect([texts[0], texts.at(-1)], file).to.deep.equal(['first', 'last']);
      expect(
        texts.filter((text) => text.length > 2500 && !file.includes('.test.')),
        file,
      ).to.deep.equal([]);
    }
  });
});
