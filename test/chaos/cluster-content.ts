import type { ApiServer } from '../apiserver/server.ts';
import { settings } from '../builders/objects.ts';
import { endpointJson, nodeObject, type ObjectJson, serviceObject, sliceObject } from '../kernel/cluster-objects.ts';
import { kernelText, programFromScratch } from '../kernel/kernel-text.ts';
import { memoryKernel } from '../kernel/memory-kernel.ts';
import { LINKS } from '../kernel/node-under-test.ts';

/** Puts `node-a` and Services `shop/s-0` … into the cluster, each with one endpoint. */
export function fillCluster(api: ApiServer, services: number): void {
  api.apply(nodeObject('node-a', { addresses: ['192.168.0.10'] }));
  for (let index = 0; index < services; index += 1) {
    api.apply(numberedService(index));
    api.apply(numberedSlice(index, [`10.180.0.${index + 1}`]));
  }
}

/** Service `shop/s-INDEX` at 172.20.1.INDEX. */
export function numberedService(index: number, annotations: Readonly<Record<string, string>> = {}): ObjectJson {
  const object = serviceObject(`shop/s-${index}`, { clusterIPs: [`172.20.1.${index + 1}`] });
  return { ...object, metadata: { ...(object.metadata as ObjectJson), annotations } };
}

export function numberedSlice(index: number, addresses: readonly string[]): ObjectJson {
  const endpoints = addresses.map((address) => endpointJson(address, 'node-b'));
  return sliceObject(`shop/s-${index}-1`, { service: `s-${index}`, endpoints });
}

/** Changes of every sort: a Service goes with its slice, another one is made anew, one is added, endpoints change. */
export function changeCluster(api: ApiServer): void {
  for (const index of [0, 1]) {
    api.delete({ kind: 'Service', namespace: 'shop', name: `s-${index}` });
    api.delete({ kind: 'EndpointSlice', namespace: 'shop', name: `s-${index}-1` });
  }
  api.apply({ ...serviceObject('shop/s-1', { clusterIPs: ['172.20.1.101'] }) });
  api.apply(numberedSlice(1, ['10.180.1.101']));
  api.apply(numberedService(50));
  api.apply(numberedSlice(50, ['10.180.1.50', '10.180.1.51']));
  api.apply(numberedSlice(2, ['10.180.1.2', '10.180.0.3']));
}

/** The text of a kernel that has what the cluster asks for now, and nothing else. */
export function wantedKernel(api: ApiServer): string {
  const versions = { Service: 'v1', EndpointSlice: 'discovery.k8s.io/v1', Node: 'v1' };
  const objects = Object.entries(versions).flatMap(([kind, apiVersion]) =>
    api.list(kind).map((object) => ({ ...object, kind, apiVersion })),
  );
  const kernel = memoryKernel(LINKS);
  programFromScratch(kernel, objects, settings());
  return kernelText(kernel);
}
