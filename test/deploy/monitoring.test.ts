import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { parseExposition } from '../http/exposition.ts';
import { ObservedNode, START_MS } from '../http/observed-node.ts';
import { cart, HERE } from '../reports/cart.ts';
import { page } from '../reports/pages.ts';
import { type Manifest, only, resolveByHand, TOP } from './kustomize.ts';
import { containersOf, readDaemonSet } from './workload.ts';

const rules = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^IPVSProxier[A-Z]\w+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
          annotations: z.strictObject({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});
const monitor = z.strictObject({
  jobLabel: z.string(),
  selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
  endpoints: z.array(
    z.strictObject({
      port: z.string(),
      path: z.string(),
      interval: z.string(),
      params: z.record(z.string(), z.array(z.string())),
      relabelings: z.array(z.strictObject({ sourceLabels: z.array(z.string()), targetLabel: z.string() })),
    }),
  ),
});
const service = z.strictObject({
  clusterIP: z.literal('None'),
  selector: z.record(z.string(), z.string()),
  ports: z.array(
    z.strictObject({ name: z.string(), port: z.int(), targetPort: z.string(), protocol: z.literal('TCP') }),
  ),
});
const panel = z.object({
  id: z.int(),
  title: z.string(),
  type: z.enum(['row', 'stat', 'timeseries']),
  gridPos: z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  targets: z.array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).default([]),
});
const dashboard = z.object({ title: z.string(), uid: z.string(), schemaVersion: z.int(), panels: z.array(panel) });

/** Prometheus' own, of each thing that is scraped. */
const OF_PROMETHEUS = ['up'];

describe('test/deploy/monitoring', () => {
  const objects = resolveByHand('deploy/monitoring');
  const alerts = rules.parse(spec('PrometheusRule')).groups.flatMap((group) => group.rules);
  const { panels } = dashboard.parse(
    JSON.parse(only(objects, 'ConfigMap', 'ipvs-proxier-dashboard').data?.['dashboard.json'] ?? ''),
  );
  const expressions = [
    ...alerts.map(({ alert, expr }) => ({ where: `alert ${alert}`, expr })),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: `panel ${title}`, expr }))),
  ];
  let node: ObservedNode;
  let families: ReturnType<typeof parseExposition>;

  before(async () => {
    node = new ObservedNode();
    await node.serving.start();
    await node.apply(cart({}), 0);
    await node.listed();
    node.statistics = STATISTICS;
    await node.apply(changedAt(START_MS + 1_000));
    node.observers.apiRequest({ method: 'GET', host: '192.0.2.1:6443', status: 200, durationMs: 3 });
    families = parseExposition((await node.ask('metrics', '/metrics')).body);
  });
  after(() => node.stop());

  function spec(kind: string): Manifest['spec'] {
    return only(objects, kind).spec;
  }

  /** The name of a histogram without what is appended to it. */
  function familyOf(metric: string) {
    return families.get(metric) ?? families.get(metric.replace(/_(bucket|sum|count)$/, ''));
  }

  it('reads the expressions of every alert and panel', () => {
    expect(alerts.length).to.be.greaterThan(5);
    expect(expressions.length).to.be.greaterThan(alerts.length + 20);
    expect(expressions.filter(({ expr }) => metricsIn(expr).length === 0)).to.deep.equal([]);
  });

  it('asks for metrics that the program has', () => {
    const missing = expressions.flatMap(({ where, expr }) =>
      metricsIn(expr)
        .filter((metric) => !OF_PROMETHEUS.includes(metric) && familyOf(metric) === undefined)
        .map((metric) => `${where}: ${metric}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('asks for metrics that the reference describes', () => {
    const text = page('reference/metrics.md');
    const isNamed = (name: string) => {
      const words = name.replace('ipvs_proxier_', '').split('_');
      return words.some((_, index) => text.includes(`\`${index > 0 ? '_' : ''}${words.slice(index).join('_')}\``));
    };
    const names = [...new Set(expressions.flatMap(({ expr }) => metricsIn(expr)))]
      .filter((metric) => !OF_PROMETHEUS.includes(metric) && !/^(process|nodejs)_/.test(metric))
      .map((metric) => familyOf(metric)?.name ?? metric);
    expect(names.filter((name) => !isNamed(name))).to.deep.equal([]);
  });

  it('asks for labels that these metrics have', () => {
    const given = ['job', 'instance'];
    const wrong = expressions.flatMap(({ where, expr }) =>
      [...expr.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].flatMap(([, metric = '', selection = '']) => {
        const named = [...selection.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label]) => label ?? '');
        const text = page('reference/metrics.md');
        const isKnown = (label: string) =>
          given.includes(label) ||
          (familyOf(metric)?.samples ?? []).some(({ labels }) => label in labels) ||
          new RegExp(`\\|[^|]*\\b${label}\\b[^|]*\\|`).test(text);
        return named.filter((label) => !isKnown(label)).map((label) => `${where}: ${metric} ${label}`);
      }),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('has balanced expressions', () => {
    const unbalanced = expressions.filter(({ expr }) => {
      const bare = expr.replace(/"(?:[^"\\]|\\.)*"/g, '""');
      return ['()', '[]', '{}'].some(([open = '', close = '']) => bare.split(open).length !== bare.split(close).length);
    });
    expect(unbalanced).to.deep.equal([]);
  });

  it('has panels that do not lie on each other, each with an id of its own', () => {
    const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => ({ title, cell: `${x + (index % w)},${y + Math.floor(index / w)}` })),
    );
    const shared = [...Map.groupBy(cells, ({ cell }) => cell)].filter(([, those]) => those.length > 1);
    expect(shared.map(([, those]) => those.map(({ title }) => title))).to.deep.equal([]);
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).to.equal(24);
  });

  it('leads from the monitor over the Service to the port of the Pods', () => {
    const { endpoints, selector, jobLabel } = monitor.parse(spec('ServiceMonitor'));
    const front = only(objects, 'Service');
    const { selector: pods, ports } = service.parse(front.spec);
    const { template } = readDaemonSet(only(resolveByHand('deploy/base'), 'DaemonSet'));
    expect(front.metadata.labels).to.include(selector.matchLabels);
    expect(front.metadata.labels?.[jobLabel]).to.equal('kube-proxy');
    expect(template.metadata.labels).to.include(pods);
    expect(endpoints.map(({ port }) => port)).to.deep.equal(ports.map(({ name }) => name));
    const names = template.spec.containers.flatMap((container) => container.ports.map(({ name }) => name));
    expect(ports.filter(({ targetPort }) => !names.includes(targetPort))).to.deep.equal([]);
    expect(containersOf(readDaemonSet(only(resolveByHand('deploy/base'), 'DaemonSet')))[1]?.ports).to.deep.include({
      name: 'metrics',
      containerPort: ports[0]?.port,
      protocol: 'TCP',
    });
    expect(endpoints.map(({ path, params }) => `${path}?ipvs=${params.ipvs}`)).to.deep.equal([
      '/metrics?ipvs=services',
    ]);
  });

  it('is in the chart as it is in the folder', () => {
    const template = readFileSync(join(TOP, 'deploy/helm/ipvs-proxier/templates/monitoring.yaml'), 'utf8');
    const read = [...template.matchAll(/\.Files\.Get "([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(read.sort()).to.deep.equal([
      'monitoring/dashboard.json',
      'monitoring/prometheus-rule.yaml',
      'monitoring/service-monitor.yaml',
      'monitoring/service.yaml',
    ]);
  });
});

const STATISTICS = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port               Conns   InPkts  OutPkts  InBytes OutBytes
  -> RemoteAddress:Port
TCP  172.20.1.1:80                       3       12       10 12345678901      900
  -> 10.180.0.5:8080                     2        8        6      800      600
`;

/** The cart with another endpoint, since this time in milliseconds since 1970. */
function changedAt(atMs: number) {
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': new Date(atMs).toISOString() };
  return cart({}, [HERE]).map((object) =>
    object.kind === 'EndpointSlice' ? { ...object, metadata: { ...(object.metadata as object), annotations } } : object,
  );
}

const KEYWORDS = new Set([
  'by',
  'without',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'and',
  'or',
  'unless',
  'bool',
  'offset',
]);

/** Names of metrics in a PromQL expression: every word that is no function, keyword, label or value. */
function metricsIn(expr: string): readonly string[] {
  const bare = expr
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, '');
  return [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\s*\(|[\w:])/g)]
    .map(([word]) => word)
    .filter((word) => !KEYWORDS.has(word));
}
