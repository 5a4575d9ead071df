import { isDeepStrictEqual } from 'node:util';
import { fail, type Result, succeed } from '../../src/model/result.ts';
import { isRecord, listOf, recordOf } from './api-object.ts';

/**
 * Applies the operations add, remove, replace, move, copy and test in order; the target is left as it was.
 * The error is a sentence about the first operation that cannot be applied. Source: RFC 6902.
 */
export function jsonPatch(target: unknown, operations: unknown): Result<unknown, string> {
  let patched: unknown = structuredClone(target);
  for (const operation of listOf(operations)) {
    const next = applyOperation(patched, recordOf(operation));
    if (!next.ok) return next;
    patched = next.value;
  }
  return succeed(patched);
}

function applyOperation(target: unknown, operation: Readonly<Record<string, unknown>>): Result<unknown, string> {
  const path = String(operation.path ?? '');
  switch (operation.op) {
    case 'add':
      return edit(target, tokens(path), 'insert', operation.value);
    case 'replace':
      return edit(target, tokens(path), 'replace', operation.value);
    case 'remove':
      return edit(target, tokens(path), 'remove', undefined);
    case 'test':
      return isDeepStrictEqual(lookUp(target, tokens(path)), operation.value)
        ? succeed(target)
        : fail(`testing value ${path} failed`);
    case 'copy':
      return edit(target, tokens(path), 'insert', lookUp(target, tokens(String(operation.from))));
    case 'move': {
      const from = tokens(String(operation.from));
      const removed = edit(target, from, 'remove', undefined);
      return removed.ok ? edit(removed.value, tokens(path), 'insert', lookUp(target, from)) : removed;
    }
    default:
      return fail(`unexpected kind: ${String(operation.op)}`);
  }
}

function tokens(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function lookUp(target: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, token) => (Array.isArray(at) ? at[Number(token)] : recordOf(at)[token]), target);
}

type Edit = 'insert' | 'replace' | 'remove';

function edit(target: unknown, path: readonly string[], how: Edit, value: unknown): Result<unknown, string> {
  const [token, ...rest] = path;
  if (token === undefined) return succeed(value);
  if (!Array.isArray(target) && !isRecord(target)) return fail(`doc is missing path: ${token}`);
  const exists = Array.isArray(target) ? Number(token) < target.length : token in target;
  if (!exists && (rest.length > 0 || how !== 'insert')) return fail(`doc is missing key: ${token}`);
  if (rest.length === 0) return succeed(editHere(target, token, how, value));
  const inner = edit(lookUp(target, [token]), rest, how, value);
  return inner.ok ? succeed(editHere(target, token, 'replace', inner.value)) : inner;
}

function editHere(
  target: readonly unknown[] | Readonly<Record<string, unknown>>,
  token: string,
  how: Edit,
  value: unknown,
): unknown {
  if (isRecord(target)) {
    const { [token]: _, ...others } = target;
    return how === 'remove' ? others : { ...target, [token]: value };
  }
  const index = token === '-' ? target.length : Number(token);
  return how === 'insert'
    ? target.toSpliced(index, 0, value)
    : target.toSpliced(index, 1, ...(how === 'remove' ? [] : [value]));
}
