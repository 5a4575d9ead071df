import { type Json, record, text } from './fields.ts';

const PROXY_NAME_LABEL = 'service.kubernetes.io/service-proxy-name';
const HEADLESS_LABEL = 'service.kubernetes.io/headless';

/** Which objects of a kind concern us: as the API server is asked, and as objects from elsewhere are sorted out. */
export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly selects: (json: unknown) => boolean;
}

/**
 * Services that no other proxy looks after and that have an address.
 *
 * Source: kubernetes/kubernetes cmd/kube-proxy/app/server.go (1.36)
 */
export const SERVICE_SELECTION: Selection = {
  labelSelector: `!${PROXY_NAME_LABEL}`,
  fieldSelector: 'spec.clusterIP!=None',
  selects: (json) => otherProxyOf(json) === undefined && text(record(record(json).spec).clusterIP) !== 'None',
};

/** Services that a label leaves to another proxy. */
export const LEFT_TO_OTHERS = { labelSelector: PROXY_NAME_LABEL } as const;

/** The proxy to which a label leaves a Service; `undefined` without it. */
export function otherProxyOf(json: unknown): string | undefined {
  const own = labels(json);
  return PROXY_NAME_LABEL in own ? (text(own[PROXY_NAME_LABEL]) ?? '') : undefined;
}

/** Slices of Services that have an address. */
export const SLICE_SELECTION: Selection = {
  labelSelector: `!${HEADLESS_LABEL}`,
  selects: (json) => !(HEADLESS_LABEL in labels(json)),
};

/** The one Node we run on. */
export function nodeSelection(name: string): Selection {
  return {
    fieldSelector: `metadata.name=${name}`,
    selects: (json) => text(record(record(json).metadata).name) === name,
  };
}

/** Every Node but the one we run on. */
export function otherNodesSelection(name: string): Selection {
  return {
    fieldSelector: `metadata.name!=${name}`,
    selects: (json) => !nodeSelection(name).selects(json),
  };
}

function labels(json: unknown): Json {
  return record(record(record(json).metadata).labels);
}
