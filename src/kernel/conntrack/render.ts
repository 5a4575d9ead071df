import { familyOf } from '../../net/ip-address.ts';
import type { StaleFlows } from './diff.ts';

/** The arguments with which `conntrack` ends all these flows. */
export function renderFlowDeletion({ to, answeredBy }: Pick<StaleFlows, 'to' | 'answeredBy'>): readonly string[] {
  const family = familyOf(to.address).toLowerCase();
  return [
    ...['-D', '-f', family, '-p', 'udp', '--orig-dst', to.address, '--orig-port-dst', `${to.port}`],
    ...(answeredBy ? ['--reply-src', answeredBy.address, '--reply-port-src', `${answeredBy.port}`] : []),
  ];
}
