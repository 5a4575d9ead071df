import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '../../docs');

/** A page of the documentation, e.g. `reference/kernel-objects.md`, its lines joined, as they are broken anywhere. */
export function page(path: string): string {
  return readPage(path).replace(/\s*\n\s*/g, ' ');
}

/** The same as it stands. */
export function readPage(path: string): string {
  return readFileSync(join(DOCS, path), 'utf8');
}

/** The whole documentation, for what may be said on any page. */
export function everyPage(): string {
  const paths = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
  return paths.map(page).join(' ');
}
