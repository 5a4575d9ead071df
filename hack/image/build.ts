/**
 * Puts the program as the image has it into a folder, which must be new:
 *
 *   node hack/image/build.ts FOLDER
 *
 * FOLDER/opt/ipvs-proxier has bin/ (what starts it, and the runtime), src/ (compiled), the packages it needs, and for both back ends of
 * iptables a folder with the tools' names. Needs `npm ci` before; fetches nothing. Everybody may read all of it, root alone may write.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { readLockedPackages } from './locked-packages.ts';

const TOP = join(import.meta.dirname, '../..');
const TOOLS = ['iptables', 'iptables-restore', 'iptables-save', 'ip6tables', 'ip6tables-restore', 'ip6tables-save'];

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0 || existsSync(folder)) {
  process.stderr.write('usage: node hack/image/build.ts FOLDER, which must not be there yet\n');
  process.exit(2);
}
process.umask(0o022);
const home = join(folder, 'opt/ipvs-proxier');
mkdirSync(join(home, 'bin'), { recursive: true });
compile();
copyPackages();
copyFileSync(join(TOP, 'deploy/image/entrypoint.sh'), join(home, 'bin/ipvs-proxier'));
copyFileSync(join(TOP, 'node_modules/node/bin/node'), join(home, 'bin/node'));
for (const file of ['ipvs-proxier', 'node']) chmodSync(join(home, 'bin', file), 0o755);
linkTools();
copyFileSync(join(TOP, 'LICENSE'), join(home, 'LICENSE'));

function compile(): void {
  const tsc = join(TOP, 'node_modules/.bin/tsc');
  execFileSync(tsc, ['--project', join(TOP, 'tsconfig.build.json'), '--outDir', home], { stdio: 'inherit' });
  const { name, version, license } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
  writeFileSync(
    join(home, 'package.json'),
    `${JSON.stringify({ name, version, license, private: true, type: 'module' })}\n`,
  );
}

/** Without their type declarations, source maps and TypeScript. */
function copyPackages(): void {
  for (const { path, optional } of readLockedPackages(join(TOP, 'package-lock.json'))) {
    const from = join(TOP, path);
    if (optional && !existsSync(from)) continue;
    const isWanted = (file: string) =>
      !(basename(file) === 'node_modules' || basename(file) === '.bin' || /\.(d\.[cm]?ts|[cm]?ts|map)$/.test(file));
    cpSync(from, join(home, path), { recursive: true, filter: (file) => file === from || isWanted(file) });
  }
}

/** Both multi-call programs, and the entry point, know what they are asked for by the name they are called by. */
function linkTools(): void {
  for (const backEnd of ['legacy', 'nft']) {
    const directory = join(home, 'iptables', backEnd);
    mkdirSync(directory, { recursive: true });
    for (const tool of TOOLS) symlinkSync(`/usr/sbin/xtables-${backEnd}-multi`, join(directory, tool));
  }
  for (const tool of TOOLS) symlinkSync('ipvs-proxier', join(home, 'bin', tool));
}
