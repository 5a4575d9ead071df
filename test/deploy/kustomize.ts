import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const TOP = join(import.meta.dirname, '../..');

/** A Kubernetes object as its file has it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** What a ConfigMap holds. */
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: unknown;
}

/** Objects of a file with several documents. */
export function readManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() as Manifest | null;
    })
    .filter((object) => object !== null);
}

/** Objects of the folder as `kubectl kustomize` makes them, but for the hash at the end of names. */
export function kustomize(folder: string): readonly Manifest[] {
  const text = execFileSync('kubectl', ['kustomize', join(TOP, folder)], { encoding: 'utf8' });
  const withoutHash = text.replace(/\b(ipvs-proxier(?:-api-server|-dashboard)?)-[0-9a-z]{10}$/gm, '$1');
  return readManifests(withoutHash);
}

interface Generator {
  readonly name: string;
  readonly behavior?: string;
  readonly files?: readonly string[];
  readonly envs?: readonly string[];
  readonly options?: { readonly labels?: Readonly<Record<string, string>> };
}

interface Kustomization {
  readonly namespace?: string;
  readonly resources?: readonly string[];
  readonly configMapGenerator?: readonly Generator[];
  readonly images?: readonly { readonly name: string; readonly newTag: string }[];
  readonly patches?: readonly {
    readonly target: { readonly kind: string; readonly name: string };
    readonly patch: string;
  }[];
}

const KNOWN = ['apiVersion', 'kind', 'namespace', 'resources', 'configMapGenerator', 'images', 'patches'];

/** The same without kubectl and at once, for the little that our files use; throws for anything else. */
export function resolveByHand(folder: string): readonly Manifest[] {
  const file: Kustomization = parse(readFileSync(join(TOP, folder, 'kustomization.yaml'), 'utf8'));
  const unknown = Object.keys(file).filter((key) => !KNOWN.includes(key));
  if (unknown.length > 0) throw new Error(`${folder}: ${unknown.join(', ')} is not known here`);
  const resources = (file.resources ?? []).flatMap((path) => {
    const whole = join(folder, path);
    return existsSync(join(TOP, whole, 'kustomization.yaml'))
      ? resolveByHand(whole)
      : readManifests(readFileSync(join(TOP, whole), 'utf8'));
  });
  const generators = file.configMapGenerator ?? [];
  const replaced = generators.filter(({ behavior }) => behavior !== undefined).map(({ name }) => name);
  const objects: Manifest[] = structuredClone([
    ...resources.filter(({ kind, metadata }) => kind !== 'ConfigMap' || !replaced.includes(metadata.name)),
    ...generators.map((generator) => configMap(folder, generator, file.namespace)),
  ]);
  for (const { name, newTag } of file.images ?? []) setTag(objects, name, newTag);
  for (const { target, patch } of file.patches ?? []) {
    const object = objects.find(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
    if (!object) throw new Error(`${folder}: no ${target.kind} ${target.name} to patch`);
    for (const step of parse(patch)) replaceAt(object, step);
  }
  return objects;
}

function configMap(folder: string, { name, files = [], envs = [], options }: Generator, namespace?: string): Manifest {
  const read = (path: string) => readFileSync(join(TOP, folder, path), 'utf8');
  const lines = envs.flatMap((path) => read(path).trim().split('\n'));
  const data = {
    ...Object.fromEntries(files.map((path) => [path, read(path)])),
    ...Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])),
  };
  const labels = options?.labels ? { labels: options.labels } : {};
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...(namespace ? { namespace } : {}), ...labels },
    data,
  };
}

function setTag(inside: unknown, name: string, tag: string): void {
  if (typeof inside !== 'object' || inside === null) return;
  const fields = inside as Record<string, unknown>;
  if (fields.image === name) fields.image = `${name}:${tag}`;
  for (const field of Object.values(fields)) setTag(field, name, tag);
}

interface PatchStep {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

function replaceAt(object: Manifest, { op, path, value }: PatchStep): void {
  if (op !== 'replace') throw new Error(`patch ${op} is not known here`);
  const keys = path.split('/').slice(1);
  const last = keys.pop() ?? '';
  const at = keys.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], object);
  if ((at as Record<string, unknown> | undefined)?.[last] === undefined)
    throw new Error(`nothing to replace at ${path}`);
  (at as Record<string, unknown>)[last] = value;
}

export function hasProgram(name: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(name, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export const hasKubectl = hasProgram('kubectl', 'version', '--client');

export function only(objects: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = objects.filter(
    (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`${found.length} objects of kind ${kind} ${name ?? ''}`);
  return first;
}
