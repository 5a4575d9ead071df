import type { ApiObject, JsonRecord } from './api-object.ts';
import { columnsOf } from './table-columns.ts';

/** How a client wants objects: as they are, as rows of a table, or only their metadata. */
export type View = 'object' | 'table' | 'metadata';

/** The first form that the Accept header names and this server has. */
export function viewOf(accept: string): View {
  const wanted = accept.split(',').map((part) => part.toLowerCase());
  for (const part of wanted) {
    if (part.includes('as=table')) return 'table';
    if (part.includes('as=partialobjectmetadata')) return 'metadata';
    if (!part.includes('as=')) return 'object';
  }
  return 'object';
}

/**
 * The table in which kubectl shows objects of a kind; `included` is what each row carries besides its cells.
 * Source: k8s.io/apimachinery meta/v1 Table
 */
export function tableOf(
  kind: string,
  objects: readonly ApiObject[],
  metadata: JsonRecord,
  included: string | null,
): unknown {
  const columns = columnsOf(kind);
  const columnDefinitions = columns.map(({ name, priority = 0 }) => {
    return { name, type: 'string', format: name === 'Name' ? 'name' : '', description: '', priority };
  });
  const rows = objects.map((object) => ({
    cells: columns.map(({ cell }) => cell(object)),
    object: includedPart(object, included),
  }));
  return { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, columnDefinitions, rows };
}

export function metadataOf({ metadata }: ApiObject): unknown {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}

function includedPart(object: ApiObject, included: string | null): unknown {
  if (included === 'None') return null;
  return included === 'Object' ? object : metadataOf(object);
}
