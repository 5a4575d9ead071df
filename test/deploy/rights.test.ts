import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openTransport } from '../../src/kube/client.ts';
import { eventsClient } from '../../src/kube/client-events.ts';
import type { ApiTransport } from '../../src/kube/client-transport.ts';
import { type ClusterHandler, watchCluster } from '../../src/kube/watch-cluster.ts';
import { systemClock } from '../../src/queue/clock.ts';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import { only, resolveByHand } from './kustomize.ts';

/**
 * Cluster role system:node-proxier, as every cluster has it: group/resource and verbs.
 * Source: kubernetes/kubernetes plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go
 */
const NODE_PROXIER: Readonly<Record<string, readonly string[]>> = {
  '/services': ['list', 'watch'],
  '/endpoints': ['list', 'watch'],
  '/nodes': ['get', 'list', 'watch'],
  '/events': ['create', 'patch', 'update'],
  'events.k8s.io/events': ['create', 'patch', 'update'],
  'discovery.k8s.io/endpointslices': ['list', 'watch'],
};

describe('test/deploy/rights', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rights-'));
  let api: ApiServer;
  let transport: ApiTransport;

  before(async () => {
    api = await startApiServer();
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, api.kubeconfig(), { mode: 0o600 });
    const opened = openTransport({ kubeconfig, master: '', userAgent: 'test', clock: systemClock });
    if (!opened.ok) throw new Error(opened.error.message);
    transport = opened.value;
  });
  after(async () => {
    transport.close();
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  /** `group/resource verb` of all that was asked. */
  const asked = () =>
    [...new Set(api.requests.all.map(({ path, resource, verb }) => `${groupOf(path)}/${resource} ${verb}`))].sort();

  it('asks for nothing that its cluster role does not allow, and for all that it watches and tells', async () => {
    await new Promise<void>((resolve) => {
      const nothing = () => {};
      const handler: ClusterHandler = {
        service: nothing,
        slice: nothing,
        node: nothing,
        otherNode: nothing,
        listed: () => resolve(),
        problem: nothing,
        trouble: nothing,
        recovered: nothing,
      };
      const watch = watchCluster({
        transport,
        nodeName: 'node-a',
        otherNodes: 'watched',
        handler,
        clock: systemClock,
        random: () => 0,
      });
      watch.start();
      stopWatching = () => watch.stop();
    });
    await Promise.all(
      [
        ['nodes', 2],
        ['services', 1],
        ['endpointslices', 1],
      ].map(([resource, count]) => api.watches.until(String(resource), Number(count))),
    );
    const events = eventsClient(transport, systemClock);
    const event = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'one', namespace: 'default' } };
    expect(await events.create('default', event)).to.deep.equal({ kind: 'stored' });
    expect(await events.patch('default', 'one', { series: { count: 2 } })).to.deep.equal({ kind: 'stored' });
    await stopWatching();

    expect(asked()).to.deep.equal([
      '/nodes list',
      '/nodes watch',
      '/services list',
      '/services watch',
      'discovery.k8s.io/endpointslices list',
      'discovery.k8s.io/endpointslices watch',
      'events.k8s.io/events create',
      'events.k8s.io/events patch',
    ]);
    const refused = asked().filter((line) => {
      const [resource = '', verb = ''] = line.split(' ');
      return !NODE_PROXIER[resource]?.includes(verb);
    });
    expect(refused).to.deep.equal([]);
  });

  let stopWatching = async () => {};

  it('is bound to that role and to no other', () => {
    const objects = resolveByHand('deploy/base');
    const binding = only(objects, 'ClusterRoleBinding') as unknown as {
      readonly roleRef: { readonly kind: string; readonly name: string };
      readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
    };
    const { name = '', namespace = '' } = only(objects, 'ServiceAccount').metadata;
    expect([binding.roleRef.kind, binding.roleRef.name]).to.deep.equal(['ClusterRole', 'system:node-proxier']);
    expect(binding.subjects).to.deep.equal([{ kind: 'ServiceAccount', name, namespace }]);
    expect(objects.filter(({ kind }) => /Role$/.test(kind))).to.deep.equal([]);
  });
});

function groupOf(path: string): string {
  return /^\/apis\/([^/]+)\//.exec(path)?.[1] ?? '';
}
