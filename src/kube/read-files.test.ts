import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { parseObjects, readObjectFiles } from './read-files.ts';

describe('kube/read-files', () => {
  const [a, b, c] = [{ kind: 'A' }, { kind: 'B' }, { kind: 'C' }];

  const texts: readonly (readonly [string, string, readonly unknown[]])[] = [
    ['one document', 'kind: A\n', [a]],
    ['several documents', 'kind: A\n---\nkind: B\n---\nkind: C\n', [a, b, c]],
    ['documents that are empty', '---\n---\nkind: A\n---\n# only a comment\n---\nnull\n', [a]],
    ['JSON', '{"kind": "A", "list": [1, true, null]}', [{ ...a, list: [1, true, null] }]],
    ['an empty text', '', []],
    ['aliases', 'kind: A\nx: &x {y: 1}\nz: *x\n', [{ ...a, x: { y: 1 }, z: { y: 1 } }]],
  ];
  for (const [name, text, objects] of texts) {
    it(`reads ${name}`, () => expect(parseObjects('a.yaml', text)).to.deep.equal({ objects, problems: [] }));
  }

  const broken: readonly (readonly [string, string, string, string])[] = [
    ['a line that is indented by chance', 'kind: B\n  bad: x', 'a.yaml:3:7', 'Nested mappings are not allowed'],
    ['a key that stands twice', 'kind: B\nkind: C', 'a.yaml:4:1', 'Map keys must be unique'],
    ['a tab as indentation', '\tkind: B', 'a.yaml:3:1', 'Tabs are not allowed'],
    ['a bracket that is never closed', 'kind: [B', 'a.yaml:', 'must'],
    ['an alias without its anchor', 'kind: *b', 'a.yaml', 'Unresolved alias'],
  ];
  for (const [name, text, place, message] of broken) {
    it(`leaves out a document with ${name}, says where, and keeps the others`, () => {
      const { objects, problems } = parseObjects('a.yaml', `kind: A\n---\n${text}\n---\nkind: C\n`);
      expect(objects).to.deep.equal([a, c]);
      expect(problems.map(({ field }) => field)).to.deep.equal(['']);
      expect(problems[0]?.object).to.match(new RegExp(`^${place}`));
      expect(problems[0]?.message).to.include(message);
      expect(problems[0]?.message).to.match(/; this document is left out$/);
      expect(problems[0]?.message).to.not.include('\n');
    });
  }

  it('names the line of a document that is no object, keeps the others and opens lists', () => {
    const { objects, problems } = parseObjects('a.yaml', 'kind: A\n---\nx: *p\n---\n5\n---\n[{kind: B}]\n');
    expect(objects).to.deep.equal([{ kind: 'A' }, { kind: 'B' }]);
    expect(problems.map(({ object }) => object)).to.deep.equal(['a.yaml:3', 'a.yaml:5']);
  });

  it('leaves out a document whose aliases grow beyond measure', () => {
    const level = (name: string, of: string) => `${name}: &${name} [${Array(10).fill(of).join(',')}]\n`;
    const { objects, problems } = parseObjects(
      'a.yaml',
      level('a', '1') + level('b', '*a') + level('c', '*b') + level('d', '*c'),
    );
    expect([objects, problems.length]).to.deep.equal([[], 1]);
  });

  describe('files', () => {
    let folder: string;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'objects-'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    const noInput = () => Promise.reject(new Error('standard input was read'));

    it('are read in the order given', async () => {
      await writeFile(join(folder, 'b.yaml'), 'kind: B\n');
      await writeFile(join(folder, 'a.txt'), 'kind: A\n---\nkind: C\n');
      const names = [join(folder, 'b.yaml'), join(folder, 'a.txt')];
      expect(await readObjectFiles(names, noInput)).to.deep.equal({ objects: [b, a, c], problems: [] });
    });

    it('of a folder are read by name when they look like objects, not deeper', async () => {
      await writeFile(join(folder, '2.yml'), 'kind: B\n');
      await writeFile(join(folder, '1.yaml'), 'kind: A\n');
      await writeFile(join(folder, '3.json'), '{"kind": "C"}');
      await writeFile(join(folder, 'notes.txt'), 'no: [object');
      await mkdir(join(folder, 'deeper'));
      await writeFile(join(folder, 'deeper', '1.yaml'), 'kind: D\n');
      expect(await readObjectFiles([folder], noInput)).to.deep.equal({ objects: [a, b, c], problems: [] });
    });

    it('may be compressed, and are in a folder too', async () => {
      await writeFile(join(folder, 'a.yaml.gz'), gzipSync('kind: A\n'));
      await writeFile(join(folder, 'b'), gzipSync('kind: B\n'));
      expect(await readObjectFiles([folder, join(folder, 'b')], noInput)).to.deep.equal({
        objects: [a, b],
        problems: [],
      });
      await writeFile(join(folder, 'c'), gzipSync('kind: C\n').subarray(0, 20));
      expect((await readObjectFiles([join(folder, 'c')], noInput)).problems).to.deep.equal([
        { object: join(folder, 'c'), field: '', message: 'cannot be read: Z_BUF_ERROR' },
      ]);
    });

    it('may be standard input', async () => {
      expect(await readObjectFiles(['-'], async () => 'kind: A\n---\nkind: [\n')).to.deep.include({ objects: [a] });
      const { problems } = await readObjectFiles(['-'], async () => 'kind: A\n---\nkind: [\n');
      expect(problems[0]?.object).to.match(/^standard input:\d+:\d+$/);
    });

    it('that are not there do not stop the others', async () => {
      const [there, missing] = [join(folder, 'a.yaml'), join(folder, 'b.yaml')];
      await writeFile(there, 'kind: A\n');
      expect(await readObjectFiles([missing, there], noInput)).to.deep.equal({
        objects: [a],
        problems: [{ object: missing, field: '', message: 'no such file or folder' }],
      });
    });
  });
});
