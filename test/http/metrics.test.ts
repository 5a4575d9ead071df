import { expect } from 'chai';
import { ListWatchCounter } from '../../src/kube/list-watch-counts.ts';
import type { ObjectJson } from '../kernel/cluster-objects.ts';
import { balancedCart, cart, HERE, otherService } from '../reports/cart.ts';
import { page, readPage } from '../reports/pages.ts';
import { lint, parseExposition, seriesOf } from './exposition.ts';
import { ObservedNode, START_MS } from './observed-node.ts';

/** Names, types and labels that dashboards and alerts for kube-proxy ask for. */
const KUBE_PROXY: readonly (readonly [name: string, type: string, labels: readonly string[]])[] = [
  ['kubeproxy_sync_proxy_rules_duration_seconds', 'histogram', ['ip_family']],
  ['kubeproxy_sync_proxy_rules_last_timestamp_seconds', 'gauge', ['ip_family']],
  ['kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds', 'gauge', ['ip_family']],
  ['kubeproxy_network_programming_duration_seconds', 'histogram', ['ip_family']],
  ['kubeproxy_sync_proxy_rules_endpoint_changes_pending', 'gauge', []],
  ['kubeproxy_sync_proxy_rules_endpoint_changes_total', 'counter', []],
  ['kubeproxy_sync_proxy_rules_service_changes_pending', 'gauge', []],
  ['kubeproxy_sync_proxy_rules_service_changes_total', 'counter', []],
  ['kubeproxy_sync_proxy_rules_no_local_endpoints_total', 'gauge', ['ip_family', 'traffic_policy']],
  ['kubeproxy_sync_proxy_rules_iptables_restore_failures_total', 'counter', ['ip_family']],
  ['kubeproxy_conntrack_reconciler_sync_duration_seconds', 'histogram', ['ip_family']],
  ['kubeproxy_conntrack_reconciler_deleted_entries_total', 'counter', ['ip_family']],
  ['kubeproxy_proxy_healthz_total', 'counter', ['code']],
  ['kubeproxy_proxy_livez_total', 'counter', ['code']],
  ['workqueue_depth', 'gauge', ['name']],
  ['workqueue_adds_total', 'counter', ['name']],
  ['workqueue_queue_duration_seconds', 'histogram', ['name']],
  ['workqueue_work_duration_seconds', 'histogram', ['name']],
  ['workqueue_unfinished_work_seconds', 'gauge', ['name']],
  ['workqueue_longest_running_processor_seconds', 'gauge', ['name']],
  ['workqueue_retries_total', 'counter', ['name']],
  ['rest_client_requests_total', 'counter', ['code', 'host', 'method']],
  ['rest_client_request_duration_seconds', 'histogram', ['host', 'verb']],
  ['process_cpu_seconds_total', 'counter', []],
  ['process_resident_memory_bytes', 'gauge', []],
  ['process_start_time_seconds', 'gauge', []],
];

const TRIGGER = 'endpoints.kubernetes.io/last-change-trigger-time';

describe('test/http/metrics', () => {
  let node: ObservedNode;

  beforeEach(async () => {
    node = new ObservedNode();
    await node.serving.start();
  });
  afterEach(() => node.stop());

  async function scrape(query = '') {
    const { body } = await node.ask('metrics', `/metrics${query}`);
    return parseExposition(body);
  }

  async function begin(objects: readonly ObjectJson[]): Promise<void> {
    await node.apply(objects, 0);
    await node.listed();
  }

  /** Everything that leaves a sample somewhere. */
  async function liveALittle(): Promise<void> {
    await begin(balancedCart({ ports: [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 }] }));
    node.statistics = STATISTICS;
    await node.apply(triggered(cart({}, [HERE]), START_MS + 1_000));
    for (const path of ['/healthz', '/livez']) await node.ask('health', path);
    const counter = new ListWatchCounter(() => node.clock.nowMs());
    counter.listed(0);
    node.observers.attachWatch({ counts: () => new Map([['services', counter.read()]]) });
    node.observers.apiRequest({ method: 'GET', host: '192.0.2.1:6443', status: 200, durationMs: 3 });
    await node.ask('metrics', '/metrics');
  }

  it('has pages that a scrape and a linter take, right after the start and later', async () => {
    expect(lint(await scrape())).to.deep.equal([]);
    await liveALittle();
    const families = await scrape();
    expect(lint(families)).to.deep.equal([]);
    expect(families.size).to.be.greaterThan(60);
    const { status, headers } = await node.ask('metrics', '/metrics');
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/plain; version=0.0.4; charset=utf-8']);
  });

  it("has kube-proxy's metrics with their types and labels", async () => {
    await liveALittle();
    const families = await scrape();
    const found = KUBE_PROXY.map(([name]) => {
      const family = families.get(name);
      const { le: _, ...labels } = family?.samples[0]?.labels ?? {};
      return [name, family?.type, Object.keys(labels).sort()];
    });
    expect(found).to.deep.equal(KUBE_PROXY);
  });

  it("has kube-proxy's buckets", async () => {
    await liveALittle();
    const families = await scrape();
    const bounds = (name: string) => {
      const samples = families.get(name)?.samples ?? [];
      const first = samples.filter((sample) => sample.name === `${name}_bucket`);
      return [...new Set(first.map(({ labels }) => Number(labels.le?.replace('+Inf', 'Infinity'))))];
    };
    const pass = bounds('kubeproxy_sync_proxy_rules_duration_seconds');
    expect(pass).to.deep.equal([...Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i), Number.POSITIVE_INFINITY]);
    const programming = bounds('kubeproxy_network_programming_duration_seconds');
    expect(programming.slice(0, 4)).to.deep.equal([0.25, 0.5, 1, 2]);
    expect(programming.slice(60)).to.deep.equal([
      ...[59, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115],
      ...[120, 150, 180, 210, 240, 270, 300, Number.POSITIVE_INFINITY],
    ]);
  });

  it('has no metric that the documentation leaves out', async () => {
    await liveALittle();
    const text = page('reference/metrics.md');
    const isNamed = (name: string) => {
      const words = name.replace('ipvs_proxier_', '').split('_');
      return words.some((_, index) => text.includes(`\`${index > 0 ? '_' : ''}${words.slice(index).join('_')}\``));
    };
    const known = /^(process|nodejs)_|^ipvs_proxier_real_server_/;
    expect([...(await scrape()).keys()].filter((name) => !known.test(name) && !isNamed(name))).to.deep.equal([]);
  });

  it('has every metric that the documentation names', async () => {
    await liveALittle();
    const names = [...(await scrape()).keys()];
    const missing = tableNames(readPage('reference/metrics.md')).flatMap(([first = '', ...more]) => [
      ...(isThere(names, first) ? [] : [first]),
      ...more.filter((name) => !isThere(names, name.startsWith('_') ? `${stem(first)}…${name}` : name)),
    ]);
    expect(missing).to.deep.equal([]);
  });

  it('tells of each resource how it is followed', async () => {
    const counter = new ListWatchCounter(() => node.clock.nowMs());
    node.observers.attachWatch({ counts: () => new Map([['other nodes', counter.read()]]) });
    const last = 'ipvs_proxier_watch_last_heard_timestamp_seconds';
    expect((await scrape('?ipvs=off')).has(last)).to.equal(false);
    counter.listed(2);
    counter.watched();
    counter.took('bookmarks');
    counter.relists('expired');
    counter.failed({ kind: 'unreachable', url: '', message: '' });
    await node.advance(4_000);
    const families = await scrape('?ipvs=off');
    expect(lint(families)).to.deep.equal([]);
    const resource = 'other nodes';
    const value = (name: string, labels = {}) =>
      seriesOf(families, `ipvs_proxier_watch_${name}`, { resource, ...labels });
    const counts = ['lists', 'starts', 'restarts', 'events', 'bookmarks', 'missed_deletions'];
    expect(counts.map((name) => value(`${name}_total`))).to.deep.equal([1, 1, 0, 0, 1, 2]);
    expect(value('relists_total', { reason: 'expired' })).to.equal(1);
    expect(value('failures_total', { kind: 'unreachable' })).to.equal(1);
    expect(value('last_heard_timestamp_seconds')).to.equal(START_MS / 1000);
  });

  it('R115: tells the mode in force, with behaviour and scheduler', async () => {
    const labels = async () => (await scrape('?ipvs=off')).get('ipvs_proxier_info')?.samples.map((each) => each.labels);
    const plain = { mode: 'ipvs', version: '1.2.3', behaviour: 'documented', scheduler: 'rr' };
    expect(await labels()).to.deep.equal([plain]);
    await node.stop();
    node = new ObservedNode({ configuration: 'ipvs: {scheduler: lc}', flags: {} });
    await node.serving.start();
    expect(await labels()).to.deep.equal([{ ...plain, scheduler: 'lc' }]);
  });

  it('has no metric of other modes', async () => {
    await liveALittle();
    const names = [...(await scrape()).keys()].join('\n');
    expect(names).to.not.match(/nftables|partial|sync_full|iptables_total|localhost_nodeports|go_goroutines/);
  });

  const CALLS: readonly (readonly [fault: string, labels: Readonly<Record<string, string>>])[] = [
    ['file', { tool: 'file', operation: 'read' }],
    ['ipvsadm write', { tool: 'ipvsadm', operation: 'write' }],
    ['ipset read', { tool: 'ipset', operation: 'read' }],
    ['ipset write', { tool: 'ipset', operation: 'write' }],
    ['ip read', { tool: 'ip', operation: 'read' }],
    ['ip write', { tool: 'ip', operation: 'write' }],
    ['iptables-save', { tool: 'iptables-save', operation: 'read' }],
    ['ip6tables-save', { tool: 'ip6tables-save', operation: 'read' }],
    ['iptables-restore', { tool: 'iptables-restore', operation: 'write' }],
    ['ip6tables-restore', { tool: 'ip6tables-restore', operation: 'write' }],
  ];
  for (const [fault, labels] of CALLS) {
    it(`R139: a call that fails raises its counter by one and leaves the time of the last success: ${fault}`, async () => {
      const failed = { ...labels, result: 'failed' };
      const family = fault.startsWith('ip6') ? 'IPv6' : 'IPv4';
      const last = ['kubeproxy_sync_proxy_rules_last_timestamp_seconds', { ip_family: family }] as const;
      node.failingOnce.add(fault);
      await begin(cart({ clusterIPs: ['172.20.1.1', 'fd00:20::1'] }));
      const during = await scrape('?ipvs=off');
      expect(seriesOf(during, 'ipvs_proxier_kernel_calls_total', failed)).to.equal(1);
      expect(seriesOf(during, ...last)).to.equal(undefined);
      expect(seriesOf(during, 'ipvs_proxier_pass_duration_seconds_count', { result: 'error' })).to.equal(1);
      await node.advance(1_000);
      const after = await scrape('?ipvs=off');
      expect(seriesOf(after, 'ipvs_proxier_kernel_calls_total', failed)).to.equal(1);
      expect(seriesOf(after, ...last)).to.be.greaterThan(START_MS / 1000);
    });
  }

  it('R139: failed restores count for their family, changes that wait are counted', async () => {
    await node.apply([...cart({}), ...otherService(1), ...otherService(2)], 0);
    const families = await scrape('?ipvs=off');
    expect(seriesOf(families, 'kubeproxy_sync_proxy_rules_service_changes_pending')).to.equal(3);
    expect(seriesOf(families, 'kubeproxy_sync_proxy_rules_endpoint_changes_pending')).to.equal(3);
    expect(seriesOf(families, 'workqueue_depth', { name: 'services' })).to.equal(3);
    node.failingOnce.add('ip6tables-restore');
    await node.listed();
    const after = await scrape('?ipvs=off');
    const failures = 'kubeproxy_sync_proxy_rules_iptables_restore_failures_total';
    expect(seriesOf(after, failures, { ip_family: 'IPv6' })).to.equal(1);
    expect(seriesOf(after, failures, { ip_family: 'IPv4' })).to.equal(0);
    expect(seriesOf(after, 'kubeproxy_sync_proxy_rules_service_changes_pending')).to.equal(0);
    expect(seriesOf(after, 'kubeproxy_sync_proxy_rules_endpoint_changes_pending')).to.equal(0);
    expect(seriesOf(after, 'kubeproxy_sync_proxy_rules_service_changes_total')).to.equal(6);
    expect(seriesOf(after, 'kubeproxy_sync_proxy_rules_endpoint_changes_total')).to.equal(3);
  });

  it('R141: an hour-old trigger time at the start is not measured, a later change is, once and with the right size', async () => {
    const latency = 'kubeproxy_network_programming_duration_seconds';
    await begin(triggered(cart({}), START_MS - 3_600_000));
    expect((await scrape()).has(latency)).to.equal(false);
    await node.advance(10_000);
    await node.apply(triggered(cart({}, [HERE]), START_MS + 8_500));
    const families = await scrape();
    const count = seriesOf(families, `${latency}_count`, { ip_family: 'IPv4' });
    expect(count).to.equal(1);
    const sum = seriesOf(families, `${latency}_sum`, { ip_family: 'IPv4' });
    expect(sum).to.be.within(1.5, 4.5);
    await node.advance(60_000);
    expect(seriesOf(await scrape(), `${latency}_count`, { ip_family: 'IPv4' })).to.equal(1);
    expect(seriesOf(await scrape(), `${latency}_count`, { ip_family: 'IPv6' })).to.equal(undefined);
  });

  it('R65: tells how many addresses kube-ipvs0 has', async () => {
    const others = Array.from({ length: 40 }, (_, index) => otherService(index)).flat();
    await begin([...cart({ clusterIPs: ['172.20.1.1', 'fd00:20::1'] }), ...others]);
    const families = await scrape();
    expect(seriesOf(families, 'ipvs_proxier_bound_addresses', { ip_family: 'IPv4' })).to.equal(41);
    expect(seriesOf(families, 'ipvs_proxier_bound_addresses', { ip_family: 'IPv6' })).to.equal(1);
  });

  it('tells of Services with policy Local that have endpoints elsewhere only', async () => {
    const elsewhere = { ...HERE, nodeName: 'node-b' };
    const fields = { externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local' } as const;
    await begin(balancedCart(fields, [elsewhere]));
    const families = await scrape();
    const labels = (traffic_policy: string) => ({ ip_family: 'IPv4', traffic_policy });
    const name = 'kubeproxy_sync_proxy_rules_no_local_endpoints_total';
    expect(seriesOf(families, name, labels('internal'))).to.equal(1);
    expect(seriesOf(families, name, labels('external'))).to.equal(1);
    await node.apply(balancedCart(fields, [HERE]));
    expect(seriesOf(await scrape(), name, labels('external'))).to.equal(0);
  });

  it('counts what is repaired, and nothing else as a repair', async () => {
    const repaired = async () => seriesOf(await scrape(), 'ipvs_proxier_drift_repairs_total', { tool: 'ipvs' });
    await begin(cart({}));
    await node.apply(cart({}, [HERE]));
    await node.advance(60_000);
    expect(await repaired()).to.equal(0);
    node.kernel.ipvs.restore('-D -t 172.20.1.1:80\n');
    await node.advance(30_000);
    expect(await repaired()).to.equal(2);
  });

  it('tells connections, packets and bytes of each Service and backend as the kernel has them', async () => {
    await begin(cart({}));
    node.statistics = STATISTICS;
    const families = await scrape();
    const frontend = {
      ...{ namespace: 'shop', service: 'cart', port: 'http', protocol: 'TCP' },
      frontend: '172.20.1.1:80',
    };
    const server = families.get('ipvs_proxier_virtual_server_incoming_bytes_total');
    expect(server?.samples.map(({ labels, value }) => [labels, value])).to.deep.equal([[frontend, 12345678901]]);
    const real = families.get('ipvs_proxier_real_server_connections_total');
    expect(real?.samples.map(({ labels, value }) => [labels, value])).to.deep.equal([
      [{ ...frontend, backend: '10.180.0.5:8080' }, 2],
    ]);
    const active = families.get('ipvs_proxier_real_server_active_connections');
    expect(active?.samples.map(({ labels }) => labels.backend)).to.deep.equal(['10.180.0.5:8080', '10.180.1.5:8080']);
  });

  it('leaves backends, or all of IPVS, out when it is asked to', async () => {
    await begin(cart({}));
    node.statistics = STATISTICS;
    const names = async (query: string) => [...(await scrape(query)).keys()].filter((name) => /_server_/.test(name));
    expect(await names('?ipvs=off')).to.deep.equal([]);
    const services = await names('?ipvs=services');
    expect(services).to.have.lengthOf(5);
    expect(services.join()).to.not.include('real_server');
    const refused = await node.ask('metrics', '/metrics?ipvs=some');
    expect([refused.status, refused.body]).to.deep.equal([400, 'ipvs must be one of off, services, backends\n']);
  });

  it('gives the rest of the page when the kernel cannot be read', async () => {
    await begin(cart({}));
    node.failing.add('ipvsadm read');
    const families = await scrape();
    expect(families.has('ipvs_proxier_virtual_server_connections_total')).to.equal(false);
    const failed = { tool: 'ipvsadm', operation: 'read', result: 'failed' };
    expect(lint(families)).to.deep.equal([]);
    expect(seriesOf(await scrape('?ipvs=off'), 'ipvs_proxier_kernel_calls_total', failed)).to.equal(1);
  });

  it('is packed for those who ask for it', async () => {
    await begin(cart({}));
    const zipped = await node.ask('metrics', '/metrics', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(zipped.headers.get('content-encoding')).to.equal('gzip');
    expect(lint(parseExposition(zipped.body))).to.deep.equal([]);
    const plain = await node.ask('metrics', '/metrics', { headers: { 'Accept-Encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).to.equal(null);
  });

  /** The same objects, the slices with this trigger time. */
  function triggered(objects: readonly ObjectJson[], atMs: number): readonly ObjectJson[] {
    const annotations = { [TRIGGER]: new Date(atMs).toISOString() };
    return objects.map((object) =>
      object.kind === 'EndpointSlice'
        ? { ...object, metadata: { ...(object.metadata as object), annotations } }
        : object,
    );
  }
});

/** Names in the first column of tables of metrics, a list a row. */
function tableNames(text: string): readonly (readonly string[])[] {
  const tables = text.split(/^## (?:Metrics of kube-proxy|Our own metrics)$/m).slice(1);
  const rows = tables
    .flatMap((part) => part.split(/^## /m)[0]?.split('\n') ?? [])
    .map((line) => line.split('|')[1] ?? '');
  return rows
    .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
    .filter(({ length }) => length > 0);
}

/** `…` and `*` stand for anything; our own stand without what they begin with. */
function isThere(names: readonly string[], name: string): boolean {
  const pattern = new RegExp(`^(ipvs_proxier_)?${name.replace(/…_|[…*]/g, '.*')}$`);
  return names.some((known) => pattern.test(known));
}

/** What another name in the row begins with too. */
function stem(first: string): string {
  return first.split('_')[0] ?? '';
}

const STATISTICS = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes
  -> RemoteAddress:Port
TCP  172.20.1.1:80                       3       12       10 12345678901      900
  -> 10.180.0.5:8080                     2        8        6      800      600
TCP  192.0.2.1:80                        7        7        7        7        7
  -> 192.0.2.2:80                        7        7        7        7        7
`;
