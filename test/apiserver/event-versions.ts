import type { ApiObject } from './api-object.ts';
import type { Resource } from './resources.ts';

/** Events are kept as the core group has them; events.k8s.io shows the same objects with these fields renamed. */
const coreToEvents: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  reportingComponent: 'reportingController',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
};
const eventsToCore = Object.fromEntries(Object.entries(coreToEvents).map(([core, events]) => [events, core]));

/** The object as it is kept, from the form in which `resource` takes it. */
export function toStored(object: ApiObject, resource: Resource): ApiObject {
  return resource.group === 'events.k8s.io' ? renamed(object, 'v1', eventsToCore) : object;
}

/** The object in the form in which `resource` shows it, from the form in which it is kept. */
export function toServed(object: ApiObject, resource: Resource): ApiObject {
  return resource.group === 'events.k8s.io' ? renamed(object, 'events.k8s.io/v1', coreToEvents) : object;
}

function renamed(object: ApiObject, apiVersion: string, names: Readonly<Record<string, string>>): ApiObject {
  const fields = Object.entries(object).map(([field, value]) => [names[field] ?? field, value]);
  return { ...Object.fromEntries(fields), apiVersion, kind: object.kind, metadata: object.metadata };
}
