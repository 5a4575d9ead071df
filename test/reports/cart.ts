import {
  endpointJson,
  nodeObject,
  type ObjectJson,
  type ServiceFields,
  serviceObject,
  sliceObject,
} from '../kernel/cluster-objects.ts';

/** Endpoints on the node under test and elsewhere. */
export const HERE = endpointJson('10.180.0.5', 'node-a');
export const ELSEWHERE = endpointJson('10.180.1.5', 'node-b');

/** Where Pods of the cluster are. */
export const POD_RANGE = '10.180.0.0/16';

/** HTTP with a node port. */
export const NODE_PORT = { name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 };

/** Both Nodes, and Service `shop/cart` with these fields and endpoints, port `http` from TCP 80 to 8080. */
export function cart(
  fields: ServiceFields,
  endpoints: readonly ObjectJson[] = [HERE, ELSEWHERE],
): readonly ObjectJson[] {
  return [
    nodeObject('node-a', { addresses: ['192.168.0.10', 'fd00:168::10'] }),
    nodeObject('node-b', { addresses: ['192.168.0.11', 'fd00:168::11'] }),
    serviceObject('shop/cart', fields),
    sliceObject('shop/cart-1', { service: 'cart', endpoints }),
  ];
}

/** A LoadBalancer Service at 203.0.113.5 with node port 30080. */
export function balancedCart(fields: ServiceFields = {}, endpoints?: readonly ObjectJson[]): readonly ObjectJson[] {
  const balanced = { type: 'LoadBalancer', ports: [NODE_PORT], ingress: [{ ip: '203.0.113.5' }], ...fields };
  return cart(balanced, endpoints);
}

/** Another Service, which has nothing to do with the fault. */
export function otherService(index: number, clusterIP = `172.20.2.${index}`): readonly ObjectJson[] {
  return [
    serviceObject(`shop/other-${index}`, { clusterIPs: [clusterIP] }),
    sliceObject(`shop/other-${index}-1`, { service: `other-${index}`, endpoints: [ELSEWHERE] }),
  ];
}
