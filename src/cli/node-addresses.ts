import type { ClusterNode, InterfaceAddresses } from '../model/node-view.ts';
import { fail, type Result, succeed } from '../model/result.ts';
import { type InterfaceAddress, parseInterfaceAddress } from '../net/cidr.ts';
import { familyOf } from '../net/ip-address.ts';

/**
 * Reads `eth0=192.168.0.10/24,fd00::10/64,eth1=…`: an address without an interface is on the one named before. The error says which
 * element is wrong.
 */
export function parseNodeAddresses(texts: readonly string[]): Result<InterfaceAddresses, string> {
  const interfaces = new Map<string, InterfaceAddress[]>();
  let name: string | undefined;
  for (const element of texts.flatMap((text) => text.split(','))) {
    const [, left, right = ''] = /^(?:([^=]+)=)?([^=]*)$/.exec(element.trim()) ?? [];
    if (left !== undefined) name = left.trim();
    const address = parseInterfaceAddress(right.trim());
    if (name === undefined || address === undefined) {
      return fail(
        `--node-addresses: ${JSON.stringify(element)} is not INTERFACE=ADDRESS/LENGTH, e.g. eth0=192.168.0.10/24`,
      );
    }
    interfaces.set(name, [...(interfaces.get(name) ?? []), address]);
  }
  return succeed(interfaces);
}

/** Where the node's own interfaces are not known: the addresses that its Node object names, on an interface called `node`. */
export function addressesOfNode(node: ClusterNode): InterfaceAddresses {
  const addresses = node.addresses.map((address) => ({
    address,
    prefixLength: familyOf(address) === 'IPv4' ? 32 : 128,
  }));
  return new Map([['node', addresses]]);
}
