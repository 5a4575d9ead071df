import type { Family } from '../../src/net/family.ts';
import { type JsonRecord, listOf, recordOf } from '../apiserver/api-object.ts';

/** One address a family; none for a family that is not there. */
export type Addresses = Readonly<Partial<Record<Family, string>>>;

/** What clients need to know of a Service. */
export interface ServiceView {
  readonly name: string;
  /** Empty for a headless one and an ExternalName. */
  readonly cluster: Addresses;
  /** By the port's name; 0 where it has none. */
  nodePort(name: string): number;
  readonly healthCheckPort: number;
}

export function viewService(service: JsonRecord): ServiceView {
  const spec = recordOf(service.spec);
  const addresses = listOf(spec.clusterIPs)
    .map(String)
    .filter((address) => address !== 'None');
  const ports = listOf(spec.ports).map(recordOf);
  return {
    name: String(recordOf(service.metadata).name),
    cluster: Object.fromEntries(addresses.map((address) => [familyOf(address), address])),
    nodePort: (name) => Number(ports.find((port) => port.name === name)?.nodePort ?? 0),
    healthCheckPort: Number(spec.healthCheckNodePort ?? 0),
  };
}

function familyOf(address: string): Family {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}
