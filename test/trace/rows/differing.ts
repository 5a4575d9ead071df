import type { Answer } from '../rows.ts';
import { nodePort, type ServiceGiven, service } from '../sketch.ts';

export const NO_LOCAL = 'dropped by KUBE-PROXY-FIREWALL';
export const NOBODY = 'refused by nobody listening';
export const BY_POLICY = 'dropped by the policy of INPUT';
export const OUT_OF_RANGE = 'dropped by KUBE-SOURCE-RANGES-FIREWALL';

/** A Service that can be reached in every way. */
export const open = (given: ServiceGiven = {}) =>
  service({
    type: 'LoadBalancer',
    ports: [nodePort(30080)],
    externalIPs: ['external'],
    balancers: ['balancer'],
    ...given,
  });

export function differs(kubeProxy: string, documented: string): Answer {
  return { 'kube-proxy': kubeProxy, documented };
}
