import type { Protocol } from '../net/protocol.ts';

declare const brand: unique symbol;

/** `namespace/name` of a Service. */
export type ServiceName = string & { readonly [brand]: 'ServiceName' };

/** One port of one Service, as text that is unique over all fields: `namespace/name:port/PROTOCOL`. */
export type ServicePortKey = string & { readonly [brand]: 'ServicePortKey' };

export function serviceName(namespace: string, name: string): ServiceName {
  return `${namespace}/${name}` as ServiceName;
}

/** `portName` is `''` for the only, unnamed port of a Service. */
export function servicePortKey(service: ServiceName, portName: string, protocol: Protocol): ServicePortKey {
  return `${service}:${portName}/${protocol}` as ServicePortKey;
}
