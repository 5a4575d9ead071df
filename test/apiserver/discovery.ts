import { apiVersionOf, type Resource, resources } from './resources.ts';

/** The document at a discovery path such as `/version`, `/apis` or `/apis/discovery.k8s.io/v1`; undefined elsewhere. */
export function discoveryDocument(path: string): unknown {
  return documents.get(path);
}

const version = {
  major: '1',
  minor: '32',
  gitVersion: 'v1.32.4',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '2025-04-22T00:00:00Z',
  goVersion: 'go1.23.8',
  compiler: 'gc',
  platform: 'linux/amd64',
};

const groups = [...new Set(resources.map(({ group }) => group))].filter((group) => group !== '');

const documents: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['/version', version],
  ['/api', { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }],
  ['/api/v1', resourceList('')],
  ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(apiGroup) }],
  ...groups.map((group) => [`/apis/${group}`, { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) }] as const),
  ...groups.map((group) => [`/apis/${group}/v1`, resourceList(group)] as const),
]);

function apiGroup(name: string): { name: string; versions: unknown; preferredVersion: unknown } {
  const version = { groupVersion: `${name}/v1`, version: 'v1' };
  return { name, versions: [version], preferredVersion: version };
}

function resourceList(group: string): unknown {
  const inGroup = resources.filter((resource) => resource.group === group);
  const groupVersion = apiVersionOf({ group, version: 'v1' });
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: inGroup.flatMap(apiResources) };
}

function apiResources({
  plural,
  singular,
  kind,
  scope,
  shortNames,
  categories,
  verbs,
  status,
}: Resource): readonly unknown[] {
  const namespaced = scope === 'namespace';
  const main = { name: plural, singularName: singular, namespaced, kind, verbs, shortNames, categories };
  const statusPart = {
    name: `${plural}/status`,
    singularName: '',
    namespaced,
    kind,
    verbs: ['get', 'patch', 'update'],
  };
  return status === 'subresource' ? [main, statusPart] : [main];
}
