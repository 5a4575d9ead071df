import { type Result, succeed } from '../../src/model/result.ts';
import { type ApiObject, valueAt } from './api-object.ts';
import type { Resource } from './resources.ts';
import { refuse, type Status } from './status.ts';

/** Whether an object is chosen by a selector. */
export type ObjectMatch = (object: ApiObject) => boolean;

/**
 * Reads `field=value`, `field==value` and `field!=value`, joined by commas; `''` chooses everything. An absent field counts as `''`.
 * Fields that the resource does not offer are refused, as the real server does.
 * Source: k8s.io/apimachinery pkg/fields/selector.go
 */
export function parseFieldSelector(text: string, resource: Resource): Result<ObjectMatch, Status> {
  const requirements: ObjectMatch[] = [];
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const [, field, sign, value] = /^\s*([^!=\s]+)(==|=|!=)(.*)$/.exec(part) ?? [];
    if (field === undefined) return refuse(400, `invalid selector: '${part}'; can't understand it`);
    if (!isSelectable(field, resource)) return refuse(400, `field label not supported: ${field}`);
    const path = field.split('.');
    requirements.push((object) => (fieldText(object, path) === value) === (sign !== '!='));
  }
  return succeed((object) => requirements.every((matches) => matches(object)));
}

function isSelectable(field: string, resource: Resource): boolean {
  const namespaced = resource.scope === 'namespace' && field === 'metadata.namespace';
  return field === 'metadata.name' || namespaced || resource.selectableFields.includes(field);
}

function fieldText(object: ApiObject, path: readonly string[]): string {
  const value = valueAt(object, path);
  return value === undefined || value === null ? '' : String(value);
}
