import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const TOP = join(import.meta.dirname, '../..');

/**
 * Compiles a program of the repository with all that it imports, as what the image has is compiled: Node's own way of running TypeScript takes
 * 30 MB of memory. Gives the new folder, and where in it the program is.
 */
export function compile(file: string): { readonly folder: string; readonly program: string } {
  const folder = mkdtempSync(join(tmpdir(), 'bench-compiled-'));
  const project = {
    extends: join(TOP, 'tsconfig.build.json'),
    compilerOptions: { rootDir: TOP, outDir: folder, typeRoots: [join(TOP, 'node_modules/@types')] },
    files: [file],
    include: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  symlinkSync(join(TOP, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(TOP, 'package.json'), join(folder, 'package.json'));
  execFileSync(join(TOP, 'node_modules/.bin/tsc'), ['--project', folder], { stdio: 'inherit' });
  return { folder, program: join(folder, relative(TOP, file).replace(/\.ts$/, '.js')) };
}
