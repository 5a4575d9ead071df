import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Programs of a control plane, by absolute path. */
export interface ControlPlaneBinaries {
  readonly apiServer: string;
  readonly etcd: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** From KUBE_APISERVER and ETCD, or as envtest keeps them in the folder KUBEBUILDER_ASSETS; undefined where none is named. */
export function findBinaries(env: Environment): ControlPlaneBinaries | undefined {
  const { KUBEBUILDER_ASSETS: assets } = env;
  const apiServer = env.KUBE_APISERVER ?? (assets ? join(assets, 'kube-apiserver') : undefined);
  const etcd = env.ETCD ?? (assets ? join(assets, 'etcd') : undefined);
  return apiServer && etcd ? { apiServer, etcd } : undefined;
}

/** Why the lab runs against the API server of the tests; undefined when it does not. */
export function whyNoRealControlPlane(env: Environment): string | undefined {
  if (findBinaries(env) === undefined)
    return 'neither KUBE_APISERVER and ETCD nor KUBEBUILDER_ASSETS name its programs';
  return undefined;
}

/** Throws when a program that is named is not there: a run that was asked for must not fall back in silence. */
export function requireBinaries({ apiServer, etcd }: ControlPlaneBinaries): void {
  for (const path of [apiServer, etcd]) if (!existsSync(path)) throw new Error(`there is no ${path}`);
}
