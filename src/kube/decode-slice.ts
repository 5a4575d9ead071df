import type { EndpointSlice, SliceEndpoint, SlicePort } from '../model/endpoint-slice.ts';
import { type ServiceName, serviceName } from '../model/names.ts';
import type { Decoded } from '../model/problem.ts';
import type { Family } from '../net/family.ts';
import {
  familyOf,
  type IpAddress,
  isLinkLocal,
  isLoopback,
  isMulticastOrBroadcast,
  isUnspecified,
  parseIpAddress,
} from '../net/ip-address.ts';
import { parsePort } from '../net/port.ts';
import { complain, frozen, type Json, list, oneOf, type Reader, readerFor, record, show, text } from './fields.ts';
import { asTheyCome, type Intern } from './interner.ts';

/** The label that ties a slice to its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** When the change of a Pod or Service happened that the slice was last written for. */
const CHANGE_TRIGGER_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';

/**
 * Cuts a discovery.k8s.io/v1 EndpointSlice down to what kernel state depends on. A port or endpoint that cannot be used is left out with
 * a problem; one at a loopback address is kept, with a problem. No value for a slice that is of no Service, or of addresses that are not IP addresses (type FQDN: without a problem).
 *
 * Source: kubernetes/kubernetes pkg/proxy/endpointslicecache.go
 */
export function decodeEndpointSlice(json: unknown, intern: Intern = asTheyCome): Decoded<EndpointSlice> {
  const reader = readerFor(json, 'EndpointSlice');
  const slice = readSlice(reader, record(json), intern);
  return slice ? { value: Object.freeze(slice), problems: reader.problems } : { problems: reader.problems };
}

function readSlice(reader: Reader, object: Json, intern: Intern): EndpointSlice | undefined {
  const metadata = record(object.metadata);
  const [namespace, name] = [text(metadata.namespace) ?? 'default', text(metadata.name)];
  if (!name) return complain(reader, 'metadata.name', 'is missing; the slice is left out');
  const { addressType } = object;
  if (addressType === 'FQDN') return undefined;
  if (addressType !== 'IPv4' && addressType !== 'IPv6') {
    return complain(reader, 'addressType', `${show(addressType)} is none of IPv4, IPv6, FQDN; the slice is left out`);
  }
  const label = text(record(metadata.labels)[SERVICE_NAME_LABEL]);
  if (!label) {
    return complain(reader, `metadata.labels["${SERVICE_NAME_LABEL}"]`, 'is missing; the slice is of no Service');
  }
  const service = intern(serviceName(namespace, label));
  const ports = list(reader, 'ports', object.ports);
  const endpoints = list(reader, 'endpoints', object.endpoints);
  return {
    name: `${namespace}/${name}`,
    service,
    family: addressType,
    ports: frozen(ports.flatMap((port, index) => readPort(reader, `ports[${index}]`, record(port)) ?? [])),
    endpoints: frozen(
      endpoints.flatMap((endpoint, index) => {
        const field = `endpoints[${index}]`;
        const read = readEndpoint(reader, field, record(endpoint), { family: addressType, intern });
        if (read && isLoopback(read.address)) warnOfLoopback(reader, field, service, read);
        return read ?? [];
      }),
    ),
    ...readTrigger(reader, record(metadata.annotations)[CHANGE_TRIGGER_ANNOTATION]),
  };
}

function readTrigger(reader: Reader, given: unknown): Pick<EndpointSlice, 'changeTriggerMs'> {
  if (given === undefined) return {};
  const changeTriggerMs = typeof given === 'string' && RFC_3339.test(given) ? Date.parse(given) : Number.NaN;
  if (!Number.isNaN(changeTriggerMs)) return { changeTriggerMs };
  complain(
    reader,
    `metadata.annotations["${CHANGE_TRIGGER_ANNOTATION}"]`,
    `${show(given)} is not a time; it is ignored`,
  );
  return {};
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d:\d\d)$/;

function readPort(reader: Reader, field: string, entry: Json): SlicePort | undefined {
  const protocol = oneOf(reader, `${field}.protocol`, entry.protocol, ['TCP', 'UDP', 'SCTP'], 'the port is left out');
  const port = parsePort(entry.port);
  if (entry.name === null) return complain(reader, `${field}.name`, 'is null; the port is left out');
  if (port === undefined) {
    const given = entry.port === undefined || entry.port === null ? 'is missing' : `is ${show(entry.port)}`;
    return complain(reader, `${field}.port`, `${given}, a number from 1 to 65535 is needed; the port is left out`);
  }
  return protocol && Object.freeze({ name: text(entry.name) ?? '', protocol, port });
}

interface EndpointContext {
  readonly family: Family;
  readonly intern: Intern;
}

function readEndpoint(
  reader: Reader,
  field: string,
  entry: Json,
  { family, intern }: EndpointContext,
): SliceEndpoint | undefined {
  const address = readAddress(reader, field, entry, family);
  if (address === undefined) return undefined;
  const conditions = record(entry.conditions);
  const hints = record(entry.hints);
  const nodeName = text(entry.nodeName);
  const names = (name: string, value: unknown) => readNames(reader, `${field}.hints.${name}`, value, intern);
  return Object.freeze({
    address,
    ready: conditions.ready !== false,
    serving: conditions.serving !== false,
    terminating: conditions.terminating === true,
    nodeName: nodeName && intern(nodeName),
    zoneHints: hints.forZones === undefined ? NO_NAMES : names('forZones', hints.forZones),
    nodeHints: hints.forNodes === undefined ? NO_NAMES : names('forNodes', hints.forNodes),
  });
}

/** Only the first address counts. */
function readAddress(reader: Reader, field: string, entry: Json, family: Family): IpAddress | undefined {
  const [first] = list(reader, `${field}.addresses`, entry.addresses);
  if (first === undefined) return complain(reader, `${field}.addresses`, 'is empty; the endpoint is left out');
  const address = parseIpAddress(String(first));
  if (address === undefined || familyOf(address) !== family) {
    const message = `${show(first)} is not an ${family} address; the endpoint is left out`;
    return complain(reader, `${field}.addresses[0]`, message);
  }
  const unusable = isUnspecified(address) || isMulticastOrBroadcast(address);
  if (unusable || (family === 'IPv6' && isLinkLocal(address))) {
    const message = `${show(first)} cannot be the address of an endpoint; it is left out`;
    return complain(reader, `${field}.addresses[0]`, message);
  }
  return address;
}

/**
 * IPVS does not take packets from elsewhere to a loopback address.
 *
 * Source: torvalds/linux net/netfilter/ipvs/ip_vs_xmit.c
 */
function warnOfLoopback(reader: Reader, field: string, service: ServiceName, { address }: SliceEndpoint): void {
  const message = `${address}, an endpoint of Service ${service}, is a loopback address: only the node itself reaches it`;
  complain(reader, `${field}.addresses[0]`, message);
}

function readNames(reader: Reader, field: string, value: unknown, intern: Intern): readonly string[] {
  const names = list(reader, field, value)
    .flatMap((entry) => text(record(entry).name) ?? [])
    .map((name) => intern(name));
  return frozen(names);
}

const NO_NAMES: readonly string[] = frozen([]);
