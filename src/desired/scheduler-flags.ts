/**
 * Flags that a scheduler's virtual servers carry: `mh` hashes the source port too, as kube-proxy asks for; all others have none.
 *
 * Source: kubernetes/kubernetes pkg/proxy/ipvs/util/ipvs_linux.go
 */
export function schedulerFlags(scheduler: string): readonly string[] {
  return scheduler === 'mh' ? MH_FLAGS : NO_FLAGS;
}

const MH_FLAGS: readonly string[] = ['mh-port'];
const NO_FLAGS: readonly string[] = [];
