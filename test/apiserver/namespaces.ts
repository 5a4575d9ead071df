import type { ApiObject } from './api-object.ts';
import type { Cluster } from './cluster.ts';

/** The namespace as an object. Namespaces are not kept: every one that is asked for exists. */
export function namespaceObject(name: string): ApiObject {
  const metadata = { name, uid: `namespace-${name}`, resourceVersion: '1', creationTimestamp: '2024-01-01T00:00:00Z' };
  const labels = { 'kubernetes.io/metadata.name': name };
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { ...metadata, labels },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

/** The namespaces in use, and the two that every cluster has, by name. */
export function listNamespaces({ store }: Cluster): readonly ApiObject[] {
  return [...new Set(['default', 'kube-system', ...store.namespaces()])].sort().map(namespaceObject);
}
