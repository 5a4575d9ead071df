/** One resource as it is served at one group and version. */
export interface Resource {
  /** `''` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly scope: 'cluster' | 'namespace';
  readonly shortNames: readonly string[];
  /** Groups such as `all`, in `kubectl get all`. */
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly status: 'subresource' | 'none';
  /** Fields a field selector may name besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
}

const readVerbs = ['get', 'list', 'watch'];
const allVerbs = [...readVerbs, 'create', 'delete', 'deletecollection', 'patch', 'update'];

const defaults = {
  version: 'v1',
  scope: 'namespace',
  shortNames: [],
  categories: [],
  verbs: allVerbs,
  status: 'none',
  selectableFields: [],
} as const;

const eventFields = [
  'reason',
  'type',
  'reportingComponent',
  'source',
  'involvedObject.kind',
  'involvedObject.name',
  'involvedObject.namespace',
  'involvedObject.uid',
];

/** Everything this server knows. Resources of the same plural share their objects (both groups of events do). */
export const resources: readonly Resource[] = [
  {
    ...defaults,
    group: '',
    plural: 'services',
    singular: 'service',
    kind: 'Service',
    shortNames: ['svc'],
    categories: ['all'],
    status: 'subresource',
    selectableFields: ['spec.clusterIP', 'spec.type'],
  },
  {
    ...defaults,
    group: '',
    plural: 'nodes',
    singular: 'node',
    kind: 'Node',
    scope: 'cluster',
    shortNames: ['no'],
    status: 'subresource',
    selectableFields: ['spec.unschedulable'],
  },
  {
    ...defaults,
    group: '',
    plural: 'events',
    singular: 'event',
    kind: 'Event',
    shortNames: ['ev'],
    selectableFields: eventFields,
  },
  {
    ...defaults,
    group: '',
    plural: 'namespaces',
    singular: 'namespace',
    kind: 'Namespace',
    scope: 'cluster',
    shortNames: ['ns'],
    verbs: readVerbs,
    selectableFields: ['status.phase'],
  },
  {
    ...defaults,
    group: 'events.k8s.io',
    plural: 'events',
    singular: 'event',
    kind: 'Event',
    shortNames: ['ev'],
    selectableFields: eventFields,
  },
  {
    ...defaults,
    group: 'discovery.k8s.io',
    plural: 'endpointslices',
    singular: 'endpointslice',
    kind: 'EndpointSlice',
  },
  { ...defaults, group: 'coordination.k8s.io', plural: 'leases', singular: 'lease', kind: 'Lease' },
];

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

export function findResource(group: string, version: string, plural: string): Resource | undefined {
  return resources.find(
    (resource) => resource.group === group && resource.version === version && resource.plural === plural,
  );
}

/** The resource of a kind such as `Service`; `apiVersion` tells apart kinds that two groups serve, the core one is the default. */
export function findResourceOfKind(kind: string, apiVersion?: string): Resource | undefined {
  return resources.find(
    (resource) => resource.kind === kind && (apiVersion === undefined || apiVersionOf(resource) === apiVersion),
  );
}
