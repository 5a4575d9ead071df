import type { IpAddress } from '../../src/net/ip-address.ts';
import { ip } from '../builders/net.ts';
import type { NodeDescription } from './node.ts';
import type { Packet } from './packet.ts';

/** A new TCP connection of `198.51.100.7:40000` to `172.20.1.1:80`, come in by eth0. */
export function packet(given: Partial<Packet> = {}): Packet {
  return {
    protocol: 'TCP',
    source: ip('198.51.100.7'),
    sourcePort: 40000,
    destination: ip('172.20.1.1'),
    port: 80,
    state: 'NEW',
    inputInterface: 'eth0',
    fromBridgePort: false,
    mark: 0,
    virtualServer: undefined,
    ...given,
  };
}

/** `192.168.0.10` on eth0, two pods `10.180.0.11` and `.12` behind veth1 and veth2, sockets on 22 and 10256. */
export function nodeDescription(given: Partial<NodeDescription> = {}): NodeDescription {
  const interfaces: readonly (readonly [string, readonly IpAddress[]])[] = [
    ['lo', ['127.0.0.1', '::1'].map(ip)],
    ['eth0', ['fe80::10', '192.168.0.10', 'fd00:168::10'].map(ip)],
    ['veth1', ['10.180.0.1'].map(ip)],
    ['veth2', []],
  ];
  return {
    interfaces: new Map(interfaces),
    pods: [
      { address: ip('10.180.0.11'), interface: 'veth1' },
      { address: ip('10.180.0.12'), interface: 'veth2' },
    ],
    builtIn: {},
    listeners: [
      { protocol: 'TCP', port: 10256 },
      { protocol: 'TCP', port: 22, address: ip('192.168.0.10') },
    ],
    ...given,
  };
}
