import { type Document, LineCounter, parseAllDocuments, type ScalarTag } from 'yaml';
import { fail, type Result, succeed } from '../model/result.ts';
import type { ConfigError } from './config-error.ts';
import { isMapping, type RawConfig, withoutNulls } from './raw-config.ts';
import { KUBE_PROXY_DOCUMENT, OWN_DOCUMENT } from './schema.ts';

export interface ConfigFile {
  /** As the user named it; it is only shown. */
  readonly name: string;
  /** YAML of one or more documents, or JSON. */
  readonly text: string;
}

/** The documents of a file, each without `null` fields. */
export interface ConfigDocuments {
  readonly kubeProxy: RawConfig;
  /** Empty when the file has no such document. */
  readonly own: RawConfig;
}

/**
 * Splits a file into its documents by kind. Errors: broken syntax with line and column, a document of another kind or
 * version, a kind that comes twice, no KubeProxyConfiguration.
 */
export function readDocuments({ name, text }: ConfigFile): Result<ConfigDocuments, readonly ConfigError[]> {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
    customTags: [YAML11_BOOL],
  });
  const contents = [...parsed].map((document) => readContents(document, lines));
  const values = contents.flatMap((content) => (content.ok && content.value !== null ? [content.value] : []));
  const messages = contents.flatMap((content) => (content.ok ? [] : content.error));
  if (messages.length === 0) messages.push(...checkKinds(values));
  if (messages.length > 0) return fail(messages.map((message) => ({ where: name, field: '', message })));
  const ofKind = (wanted: DocumentKind) =>
    withoutNulls(values.filter(isMapping).find((value) => value.kind === wanted.kind) ?? {});
  return succeed({ kubeProxy: ofKind(KUBE_PROXY_DOCUMENT), own: ofKind(OWN_DOCUMENT) });
}

interface DocumentKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** kube-proxy's YAML reader also takes YAML 1.1's words for booleans. */
export const YAML11_BOOL: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF)$/,
  resolve: (word) => /^(?:y|on)/i.test(word),
};

/** The document as plain values; `null` when there is nothing between two markers. */
function readContents(document: Document, lines: LineCounter): Result<unknown, readonly string[]> {
  if (document.errors.length > 0) {
    return fail(
      document.errors.map(({ pos, message }) => {
        const { line, col } = lines.linePos(pos[0]);
        return `line ${line}, column ${col}: ${message}`;
      }),
    );
  }
  try {
    return succeed(document.toJS());
  } catch (error) {
    return fail([error instanceof Error ? error.message : String(error)]); // an alias without its anchor
  }
}

function checkKinds(values: readonly unknown[]): readonly string[] {
  const wrong = values.flatMap((value) => (EXPECTED.some((known) => isKind(value, known)) ? [] : [wrongKind(value)]));
  const twice = EXPECTED.filter((known) => values.filter((value) => isKind(value, known)).length > 1);
  const messages = [
    ...wrong,
    ...twice.map(({ kind }) => `more than one document of kind ${kind}; only one is allowed`),
  ];
  if (messages.length > 0 || values.some((value) => isKind(value, KUBE_PROXY_DOCUMENT))) return messages;
  return [
    `no document of kind ${describe(KUBE_PROXY_DOCUMENT)}; found ${values.length === 0 ? 'nothing' : 'only others'}`,
  ];
}

const EXPECTED: readonly DocumentKind[] = [KUBE_PROXY_DOCUMENT, OWN_DOCUMENT];

function isKind(value: unknown, { apiVersion, kind }: DocumentKind): boolean {
  return isMapping(value) && value.apiVersion === apiVersion && value.kind === kind;
}

function wrongKind(value: unknown): string {
  const found = isMapping(value)
    ? `kind ${JSON.stringify(value.kind ?? '')} of apiVersion ${JSON.stringify(value.apiVersion ?? '')}`
    : 'a document that is no mapping';
  return `must be ${EXPECTED.map(describe).join(' or ')}; got ${found}`;
}

function describe({ apiVersion, kind }: DocumentKind): string {
  return `${kind} (${apiVersion})`;
}
