/**
 * Fails on an import inside src/ that points up, into a neighbour that must not be known, or to a package that another folder owns. The
 * list is the map of src/, from the top down; see CONTRIBUTING.md.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

/** From top to bottom; a file may import its own folder and everything below, but for neighbours that stand in one row. */
const LAYERS: readonly (readonly string[])[] = [
  ['.'],
  ['cli'],
  ['replay'],
  ['sync'],
  ['kube', 'apply', 'observe'],
  ['config'],
  ['queue'],
  ['doctor'],
  ['cleanup', 'explain'],
  ['plan'],
  ['desired'],
  ['topology', 'tracking'],
  ['kernel'],
  ['model'],
  ['net'],
];

/** Packages by the folders that may use them; what is not listed may be used nowhere. `node:` is the runtime's own library. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['kube'],
  execa: ['apply'],
  pino: ['observe', '.'],
  'pino-pretty': ['observe'],
  'prom-client': ['observe'],
  yaml: ['kube', 'config', 'cli', 'observe'],
  yargs: ['cli'],
  zod: ['config', 'kube'],
  node: ['.', 'cli', 'replay', 'kube', 'apply', 'observe'],
};

/** Folders that must stay free of I/O, clocks, logs and packages. */
const PURE = ['doctor', 'cleanup', 'explain', 'plan', 'desired', 'topology', 'tracking', 'kernel', 'model', 'net'];

export interface Violation {
  readonly file: string;
  readonly message: string;
}

/** Checks sources given as path below src/ → text. Tests are checked by nobody: they may look into everything. */
export function checkLayers(sources: ReadonlyMap<string, string>): readonly Violation[] {
  return [...sources].flatMap(([file, text]) => [
    ...importsOf(text).flatMap((specifier) => judge(file, specifier)),
    ...(PURE.includes(folderOf(file)) ? impurities(file, text) : []),
  ]);
}

function judge(file: string, specifier: string): Violation[] {
  const from = folderOf(file);
  if (!specifier.startsWith('.')) {
    const owner = specifier.startsWith('node:')
      ? 'node'
      : specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/');
    if (PACKAGES[owner]?.includes(from)) return [];
    return [{ file, message: `must not import ${specifier}: only ${PACKAGES[owner]?.join(', ') ?? 'nobody'} may` }];
  }
  const target = normalize(join(dirname(file), specifier));
  if (target.startsWith('..')) return from === '.' ? [] : [{ file, message: `imports ${specifier}, outside of src/` }];
  const to = folderOf(target);
  if (from === 'kernel' && to === 'kernel') return judgeTools(file, target);
  if (from === to) return [];
  const [high, low] = [rank(from), rank(to)];
  if (low < 0) return [{ file, message: `imports ${target}, whose folder is not on the map` }];
  if (low > high) return [];
  return [{ file, message: `imports ${target}: ${to} is ${low === high ? 'beside' : 'above'} ${from}` }];
}

/** The tools of kernel/ do not know each other; what stands directly in kernel/ may know them all. */
function judgeTools(file: string, target: string): Violation[] {
  const [, from, rest] = file.split('/');
  const [, to] = target.split('/');
  return rest === undefined || from === to
    ? []
    : [{ file, message: `imports ${target}: tools of kernel/ do not import each other` }];
}

function impurities(file: string, text: string): Violation[] {
  const found = /\b(async|await|setTimeout|setInterval|Date\.now|new Date|process\.|performance\.)/.exec(
    withoutComments(text),
  );
  return found ? [{ file, message: `is in a pure folder and uses ${found[1]}` }] : [];
}

function importsOf(text: string): readonly string[] {
  const source = withoutComments(text);
  const statements = source.matchAll(
    /\b(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g,
  );
  return [...statements].map(([, from, direct]) => from ?? direct ?? '');
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

function folderOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '.') : '.';
}

function rank(folder: string): number {
  return LAYERS.findIndex((row) => row.includes(folder));
}

function readSources(top: string): ReadonlyMap<string, string> {
  const files = readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((file) => [relative(top, file), readFileSync(file, 'utf8')]));
}

if (import.meta.main) {
  const sources = readSources(join(import.meta.dirname, '../src'));
  const violations = checkLayers(sources);
  for (const { file, message } of violations) process.stderr.write(`src/${file} ${message}\n`);
  process.stdout.write(`${sources.size} files, ${violations.length} imports that break the layers\n`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
