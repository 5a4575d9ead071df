import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import type { ProxyConfig } from '../../src/config/proxy-config.ts';
import { proxySettings } from '../../src/config/proxy-settings.ts';
import type { Desired } from '../../src/desired/desired.ts';
import { decodeObjects } from '../../src/kube/cluster-objects.ts';
import { parseInterfaceAddress } from '../../src/net/cidr.ts';
import { FAMILIES } from '../../src/net/family.ts';
import { computeOnce } from '../../src/sync/compute-once.ts';
import type { Case, CaseBehaviour } from './cases.ts';

/** The text of the configuration file of a vector. */
export function caseConfigText({ config }: Case): string {
  const kind = { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration', mode: 'ipvs' };
  return stringify({ ...kind, ...config });
}

export function caseConfig(content: Case, behaviour: CaseBehaviour): ProxyConfig {
  const file = { name: `${content.name}: config`, text: caseConfigText(content) };
  const config = loadConfig({ file, flags: { behaviour } });
  if (!config.ok) throw new Error(config.error.map(({ field, message }) => `${field}: ${message}`).join('\n'));
  return config.value;
}

/** The vector's own Node, as the API server has it. */
export function caseNode({ node: { name, labels, podCIDRs, addresses } }: Case): Record<string, unknown> {
  const internal = (addresses.eth0 ?? []).map((address) => ({ type: 'InternalIP', address: address.split('/')[0] }));
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { podCIDRs },
    status: { addresses: internal },
  };
}

/** Objects that there are after each step. */
export function caseObjects({ steps }: Case): readonly (readonly unknown[])[] {
  const cluster = new Map<string, unknown>();
  const key = (kind: unknown, namespace: unknown, name: unknown) => `${kind} ${namespace}/${name}`;
  return steps.map((step) => {
    for (const object of (step.apply ?? []) as { kind: string; metadata: { namespace: string; name: string } }[]) {
      cluster.set(key(object.kind, object.metadata.namespace, object.metadata.name), object);
    }
    for (const { kind, namespace, name } of step.delete ?? []) cluster.delete(key(kind, namespace, name));
    return [...cluster.values()];
  });
}

/** What a vector wants after each step, of both families. */
export function caseDesired(content: Case, behaviour: CaseBehaviour): readonly (readonly Desired[])[] {
  const settings = proxySettings(caseConfig(content, behaviour), true);
  const [node] = decodeObjects([caseNode(content)]).nodes;
  if (!node) throw new Error(`${content.name}: a vector without a node`);
  const interfaces = new Map(
    Object.entries(content.node.addresses).map(([name, list]) => [
      name,
      list.flatMap((text) => parseInterfaceAddress(text) ?? []),
    ]),
  );
  const view = { ...node, otherNodeAddresses: new Set<never>(), interfaces };
  return caseObjects(content).map((objects) => computeOnce(decodeObjects(objects), view, FAMILIES, settings));
}
