import { apiVersionOf, type Resource, resources } from './resources.ts';

const info = { title: 'Kubernetes', version: 'v1.32.4' };

/**
 * The OpenAPI document at a path; undefined elsewhere. It holds what kubectl looks up before it writes: for each kind the patch
 * operation with the query parameters it takes. Schemas of the kinds are left out, so `kubectl explain` has nothing to show.
 * Source: k8s.io/cli-runtime pkg/resource/query_param_verifier_v3.go
 */
export function openApiDocument(path: string): unknown {
  if (path === '/openapi/v2') return { swagger: '2.0', info, paths: {}, definitions: {} };
  if (path === '/openapi/v3')
    return {
      paths: Object.fromEntries(prefixes.map((prefix) => [prefix, { serverRelativeURL: `/openapi/v3/${prefix}` }])),
    };
  const prefix = path.replace(/^\/openapi\/v3\//, '');
  return prefixes.includes(prefix) ? groupDocument(prefix) : undefined;
}

const prefixes = [...new Set(resources.map(prefixOf))];

function prefixOf({ group, version }: Resource): string {
  return `${group === '' ? 'api' : 'apis'}/${apiVersionOf({ group, version })}`;
}

function groupDocument(prefix: string): unknown {
  const writable = resources.filter((resource) => prefixOf(resource) === prefix && resource.verbs.includes('patch'));
  const paths = Object.fromEntries(writable.map((resource) => [objectPath(prefix, resource), pathItem(resource)]));
  return { openapi: '3.0.0', info, paths, components: { schemas: {} } };
}

function objectPath(prefix: string, { scope, plural }: Resource): string {
  return `/${prefix}/${scope === 'namespace' ? 'namespaces/{namespace}/' : ''}${plural}/{name}`;
}

function pathItem({ group, version, kind }: Resource): unknown {
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => {
    return { name, in: 'query', schema: { type: 'string', uniqueItems: true } };
  });
  const responses = { 200: { description: 'OK' } };
  return {
    patch: {
      parameters,
      responses,
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group, version, kind },
    },
  };
}
