import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import type { Problem } from '../model/problem.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { show } from './fields.ts';

export interface FileObjects {
  readonly objects: readonly unknown[];
  /** Files and documents that could not be read; everything else is in `objects`. */
  readonly problems: readonly Problem[];
}

/**
 * Reads Kubernetes objects from files, folders (their `.yaml`, `.yml` and `.json` files, not deeper, be they compressed, `.yaml.gz`, or not) and
 * `-` for standard input. A file may hold several documents; one that is broken leaves the others readable.
 */
export async function readObjectFiles(names: readonly string[], stdin: () => Promise<string>): Promise<FileObjects> {
  const read = await Promise.all(names.map((name) => readNamed(name, stdin)));
  return { objects: read.flatMap(({ objects }) => objects), problems: read.flatMap(({ problems }) => problems) };
}

/** Parses the documents of one text; `name` is where it came from. */
export function parseObjects(name: string, text: string): FileObjects {
  const objects: unknown[] = [];
  const problems: Problem[] = [];
  const lineCounter = new LineCounter();
  for (const document of parseAllDocuments(text, { strict: true, uniqueKeys: true, merge: true, lineCounter })) {
    const [error] = document.errors;
    if (error) {
      const { line, col } = error.linePos?.[0] ?? { line: 0, col: 0 };
      const message = `${firstSentence(error.message)}; this document is left out`;
      problems.push({ object: `${name}:${line}:${col}`, field: '', message });
      continue;
    }
    const value = toPlain(document);
    const where = `${name}:${lineCounter.linePos(document.contents?.range?.[0] ?? 0).line}`;
    if (!value.ok) problems.push({ object: where, field: '', message: `${value.error}; this document is left out` });
    else if (Array.isArray(value.value)) objects.push(...value.value);
    else if (typeof value.value === 'object' && value.value !== null) objects.push(value.value);
    else if (value.value !== null && value.value !== undefined) {
      problems.push({
        object: where,
        field: '',
        message: `${show(value.value)} is no Kubernetes object; it is left out`,
      });
    }
  }
  return { objects, problems };
}

/** The library throws for an alias without its anchor, and for aliases that grow beyond measure. */
function toPlain(document: Document.Parsed): Result<unknown, string> {
  try {
    return succeed(document.toJS());
  } catch (error) {
    return fail(firstSentence((error as Error).message));
  }
}

async function readNamed(name: string, stdin: () => Promise<string>): Promise<FileObjects> {
  if (name === '-') return parseObjects('standard input', await stdin());
  try {
    if (!(await stat(name)).isDirectory()) return parseObjects(name, await readText(name));
    const entries = (await readdir(name)).filter((entry) => /\.(ya?ml|json)(\.gz)?$/.test(entry)).sort();
    return await readObjectFiles(
      entries.map((entry) => join(name, entry)),
      stdin,
    );
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const message = code === 'ENOENT' ? 'no such file or folder' : `cannot be read: ${code}`;
    return { objects: [], problems: [{ object: name, field: '', message }] };
  }
}

/** Compressed text is known by its first bytes. */
async function readText(name: string): Promise<string> {
  const bytes = await readFile(name);
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isZipped ? await unzip(bytes) : bytes).toString('utf8');
}

const unzip = promisify(gunzip);

/** The library appends an excerpt of the text to its message. */
function firstSentence(message: string): string {
  return message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message;
}
