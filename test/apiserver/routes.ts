import { findResource, type Resource } from './resources.ts';

/** What a path names: objects of a resource, or something else. */
export type Route =
  | {
      readonly kind: 'resource';
      readonly resource: Resource;
      /** Absent for cluster-scoped resources and for lists over all namespaces. */
      readonly namespace: string | undefined;
      /** Absent for the collection. */
      readonly name: string | undefined;
      readonly part: 'main' | 'status';
    }
  | { readonly kind: 'other' };

/** Reads a path such as `/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/cart-1`. */
export function parseRoute(path: string): Route {
  const segments = path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decoded);
  const [root, first = '', second = '', ...others] = segments;
  if (root === 'api') return resourceRoute('', first, segments.slice(2));
  if (root === 'apis') return resourceRoute(first, second, others);
  return { kind: 'other' };
}

/** The segment with its escapes resolved; as it is when they are malformed. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function resourceRoute(group: string, version: string, segments: readonly string[]): Route {
  const [first, namespace, ...rest] = segments;
  const inNamespace = first === 'namespaces' && namespace !== undefined && rest.length > 0 && rest[0] !== 'status';
  const [plural = '', name, subresource, ...tooMany] = inNamespace ? rest : segments;
  const resource = findResource(group, version, plural);
  if (resource === undefined || tooMany.length > 0 || (subresource ?? 'status') !== 'status') return { kind: 'other' };
  const part = subresource === 'status' ? 'status' : 'main';
  if (part === 'status' && resource.status === 'none') return { kind: 'other' };
  if (inNamespace !== (resource.scope === 'namespace') && (inNamespace || name !== undefined)) return { kind: 'other' };
  return { kind: 'resource', resource, namespace: inNamespace ? namespace : undefined, name, part };
}

/** The verb by which the request log, RBAC and metrics of a cluster call a request. */
export function verbOf(method: string, route: Route, query: URLSearchParams): string {
  if (route.kind === 'other') return method.toLowerCase();
  const isCollection = route.name === undefined;
  switch (method) {
    case 'GET':
      if (isWatch(query)) return 'watch';
      return isCollection ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'DELETE':
      return isCollection ? 'deletecollection' : 'delete';
    default:
      return method.toLowerCase();
  }
}

function isWatch(query: URLSearchParams): boolean {
  return ['1', 'true'].includes(query.get('watch') ?? '');
}
