import { type Result, succeed } from '../../src/model/result.ts';
import type { ApiObject } from './api-object.ts';
import { parseFieldSelector } from './field-selector.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { Resource } from './resources.ts';
import type { Status } from './status.ts';

/** Which objects of one resource a request is about. */
export interface Selection {
  readonly resource: Resource;
  readonly selects: (object: ApiObject) => boolean;
}

/** The objects in `namespace` (all when absent), or the one called `name`, that the query's two selectors choose. */
export function readSelection(
  { resource, namespace, name }: { resource: Resource; namespace: string | undefined; name: string | undefined },
  query: URLSearchParams,
): Result<Selection, Status> {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  if (!labels.ok) return labels;
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', resource);
  if (!fields.ok) return fields;
  const inPlace = ({ metadata }: ApiObject) =>
    (namespace === undefined || metadata.namespace === namespace) && (name === undefined || metadata.name === name);
  const selects = (object: ApiObject) =>
    inPlace(object) && labels.value(object.metadata.labels ?? {}) && fields.value(object);
  return succeed({ resource, selects });
}
