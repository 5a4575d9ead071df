import type { Problem } from '../model/problem.ts';
import type { Service } from '../model/service.ts';

/** Fields of a Service that have no effect as it stands. */
export function ignoredFields(service: Service): readonly Problem[] {
  const { name, type, externalIPs, loadBalancerVIPs, loadBalancerSourceRanges, healthCheckNodePort } = service;
  const isExternal = type !== 'ClusterIP' || externalIPs.length > 0;
  const note = (field: string, message: string): Problem => ({
    object: `Service ${name}`,
    service: name,
    field,
    message: `${message}; it is ignored`,
  });
  return [
    ...(service.externalTrafficPolicy === 'Local' && !isExternal
      ? [note('spec.externalTrafficPolicy', 'nothing outside leads to a ClusterIP without external addresses')]
      : []),
    ...(loadBalancerSourceRanges.length > 0 && loadBalancerVIPs.length === 0
      ? [note('spec.loadBalancerSourceRanges', 'there is no load-balancer address that this node serves')]
      : []),
    ...(healthCheckNodePort !== undefined && (type !== 'LoadBalancer' || service.externalTrafficPolicy !== 'Local')
      ? [note('spec.healthCheckNodePort', 'it is for type LoadBalancer with externalTrafficPolicy Local')]
      : []),
  ];
}
