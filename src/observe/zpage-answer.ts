import type { ServerResponse } from 'node:http';
import { stringify } from 'yaml';
import { answerWith, JSON_TYPE, TEXT } from './answer.ts';
import { type ZpageKind, type ZpageSources, zpageObject, zpageText } from './zpages.ts';

type Form =
  | { readonly kind: 'text' }
  | { readonly kind: 'object'; readonly as: 'json' | 'yaml'; readonly version: string };

/** Answers in the first form of the `Accept` header that there is; without the header as text. */
export function answerZpage(
  kind: ZpageKind,
  accept: string | undefined,
  response: ServerResponse,
  sources: ZpageSources,
): void {
  const form = chooseForm(kind, accept);
  if (!form) answerWith(response, 406, TEXT, `only ${OFFERED(kind).join(' and ')} can be given\n`);
  else if (form.kind === 'text') answerWith(response, 200, TEXT, zpageText(kind, sources));
  else {
    const object = zpageObject(kind, `${GROUP}/${form.version}`, sources);
    const body = form.as === 'json' ? `${JSON.stringify(object)}\n` : stringify(object);
    answerWith(
      response,
      200,
      form.as === 'json' ? JSON_TYPE : 'application/yaml',
      body,
      warningFor(kind, form.version),
    );
  }
}

const GROUP = 'config.k8s.io';
const VERSIONS: readonly string[] = ['v1beta1', 'v1alpha1'];
const OFFERED = (kind: ZpageKind) => ['text/plain', `application/json;as=${kind};v=v1beta1;g=${GROUP}`];

function chooseForm(kind: ZpageKind, accept: string | undefined): Form | undefined {
  if (accept === undefined || accept.trim() === '') return { kind: 'text' };
  for (const range of accept.split(',')) {
    const form = formOf(kind, range);
    if (form) return form;
  }
  return undefined;
}

function formOf(kind: ZpageKind, range: string): Form | undefined {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  if (TEXT_RANGES.includes(type.toLowerCase())) return { kind: 'text' };
  const given = Object.fromEntries(parameters.map((parameter) => parameter.split('=', 2)));
  const as = STRUCTURED[type.toLowerCase()];
  const version = VERSIONS.find((known) => known === given.v);
  return as && version !== undefined && given.as === kind && given.g === GROUP
    ? { kind: 'object', as, version }
    : undefined;
}

const TEXT_RANGES: readonly string[] = ['text/plain', 'text/*', '*/*'];
const STRUCTURED: Readonly<Record<string, 'json' | 'yaml'>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
};

function warningFor(kind: ZpageKind, version: string): Readonly<Record<string, string>> {
  if (version !== 'v1alpha1') return {};
  return { Warning: `299 - "${GROUP}/v1alpha1 ${kind} is deprecated; use ${GROUP}/v1beta1 ${kind}"` };
}
