/**
 * Prints what the image is made of as CycloneDX 1.5 JSON: packages of npm from the lock file, the runtime, and Debian's packages.
 *
 *   node hack/image/sbom.ts --dpkg ROOT/var/lib/dpkg/status >sbom.cdx.json
 *
 * The same input gives the same bytes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { billOfMaterials } from './bill-of-materials.ts';
import { readDebianPackages } from './debian-packages.ts';
import { readLockedPackages, readRuntimeVersion } from './locked-packages.ts';

const TOP = join(import.meta.dirname, '../..');
const LOCK_FILE = join(TOP, 'package-lock.json');

const { values } = parseArgs({ options: { dpkg: { type: 'string' } } });
const { name, version, license } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
const bill = billOfMaterials({
  program: { name, version, license },
  runtimeVersion: readRuntimeVersion(LOCK_FILE),
  npm: readLockedPackages(LOCK_FILE),
  debian: values.dpkg === undefined ? [] : readDebianPackages(readFileSync(values.dpkg, 'utf8')),
});
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);
