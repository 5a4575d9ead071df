import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { ReplayReport } from '../../src/replay/report.ts';
import { parseTraceEvent, type TraceEvent } from '../../src/replay/trace-event.ts';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import { runProgram } from '../cli/program.ts';
import type { Daemon } from './daemon.ts';
import { readVirtualServers } from './kernel-state.ts';
import { NAMESPACE, node, type ServiceSketch, service, slice } from './objects.ts';
import { startProxier } from './proxier-daemon.ts';
import { useLab } from './shared-lab.ts';
import { POD_PORT } from './standard-plan.ts';
import { waitFor } from './wait-for.ts';

describe('test/lab/record', () => {
  const shared = useLab();
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-record-'));
  const file = join(folder, 'trace.jsonl.gz');
  const [web, late] = [sketch('web', 20), sketch('late', 21)];
  let api: ApiServer;
  let daemon: Daemon | undefined;

  before('an API server', async () => {
    api = await startApiServer({ addresses: ['192.168.0.1'], certificateAddresses: ['192.168.0.1'] });
    for (const { name, addresses } of shared().lab.nodes) api.apply(node(name, [addresses.IPv4, addresses.IPv6]));
    api.apply(service(web));
    serve(web, 'a1');
  });
  after('the daemon and the API server', async () => {
    await daemon?.stop();
    await api.stop();
  });

  function serve(of: ServiceSketch, ...names: readonly string[]): void {
    const pods = names.map((name) => shared().lab.pod(name));
    const endpoints = pods.map((pod) => ({ address: pod.addresses.IPv4, nodeName: pod.node ?? '' }));
    api.apply(slice(of, POD_PORT, endpoints));
  }

  /** Resolves when node-a has exactly these lines, but for real servers that only keep connections. */
  function programmed(...wanted: readonly string[]): Promise<unknown> {
    const read = async () =>
      (await readVirtualServers(shared().lab, 'node-a')).filter((line) => !line.endsWith(' -w 0'));
    const isDone = (lines: readonly string[]) => lines.toSorted().join() === wanted.toSorted().join();
    return waitFor('virtual servers of node-a', read, isDone, { timeoutMs: 240_000 });
  }

  function linesOf(last: number, ...names: readonly string[]): readonly string[] {
    const server = `-t 10.96.0.${last}:80`;
    const reals = names.map((name) => `${shared().lab.pod(name).addresses.IPv4}:${POD_PORT}`);
    return [`-A ${server} -s rr`, ...reals.map((real) => `-a ${server} -r ${real} -m -w 1`)];
  }

  it('writes what the cluster tells a daemon while it programs the node, until it is ended', async () => {
    const flags = ['--record', file, '--ipvs-min-sync-period', '100ms'];
    daemon = startProxier(shared().lab, 'node-a', api.kubeconfig(), folder, flags);
    await programmed(...linesOf(20, 'a1'));
    serve(web, 'a1', 'b1');
    await programmed(...linesOf(20, 'a1', 'b1'));
    const { metadata, ...rest } = service(web) as { readonly metadata: object };
    api.apply({ ...rest, metadata: { ...metadata, annotations: { 'example.com/owner': 'shop' } } });
    api.apply(service(late));
    await programmed(...linesOf(20, 'a1', 'b1'), ...linesOf(21));
    serve(late, 'b2');
    await programmed(...linesOf(20, 'a1', 'b1'), ...linesOf(21, 'b2'));
    api.delete({ kind: 'Service', namespace: NAMESPACE, name: 'late' });
    await programmed(...linesOf(20, 'a1', 'b1'));
    expect(await daemon.stop()).to.deep.equal({ exitCode: 0 });

    const [listed, changed] = [(at: number) => at === 0, (at: number) => at > 0].map((isThen) =>
      events()
        .filter(({ atMs }) => isThen(atMs))
        .map(({ type, object }) => `${type} ${object.kind} ${(object.metadata as { name: string }).name}`),
    );
    expect(listed?.toSorted()).to.deep.equal([
      ...['ADDED EndpointSlice web-ipv4', 'ADDED Node node-a', 'ADDED Node node-b', 'ADDED Service web'],
    ]);
    expect(changed).to.deep.equal([
      'MODIFIED EndpointSlice web-ipv4',
      'MODIFIED Service web',
      'ADDED Service late',
      'ADDED EndpointSlice late-ipv4',
      'DELETED Service late',
    ]);
  });

  it('has written what a replay takes without a complaint, and tells the same changes', async () => {
    const { stdout, messages, exitCode } = await runProgram(['replay', file, '--node', 'node-a', '-o', 'json']);
    expect([messages, exitCode]).to.deep.equal([[], 0]);
    const { controllers } = JSON.parse(stdout) as ReplayReport;
    const [naive, , ours] = controllers;
    expect(naive?.passes).to.equal(events().length);
    const { immaterial, 'not-ours': early = 0 } = ours?.eventsDropped ?? {};
    expect(immaterial).to.equal(1);
    // of the first lists that of slices may have come before that of Services
    expect((ours?.latencyMs.all.events ?? 0) + early).to.equal(6);
    expect(ours?.apiRequests).to.equal(0);
  });

  function events(): readonly TraceEvent[] {
    const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n');
    return lines.map((line) => {
      const event = parseTraceEvent(line);
      return event.ok ? event.value : expect.fail(`${event.error}: ${line}`);
    });
  }
});

/** A Service at 10.96.0.LAST. */
function sketch(name: string, last: number): ServiceSketch {
  return { name, clusterIPs: [`10.96.0.${last}`], ports: [{ name: 'http', protocol: 'TCP', port: 80 }] };
}
