import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import { lint, parseExposition, seriesOf } from '../http/exposition.ts';
import type { Daemon } from './daemon.ts';
import { NAMESPACE, node, type ServiceSketch, service, slice } from './objects.ts';
import { startProxier } from './proxier-daemon.ts';
import { useLab } from './shared-lab.ts';
import { POD_PORT } from './standard-plan.ts';
import type { LabHost } from './topology.ts';
import { waitFor } from './wait-for.ts';

const WEB: ServiceSketch = {
  name: 'web',
  type: 'LoadBalancer',
  clusterIPs: ['10.96.0.10', 'fd00:96::10'],
  ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }],
  spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32100 },
};

/** The size of the connection table belongs to the machine, not to a namespace of it. */
const FLAGS = [
  '--cluster-cidr',
  '10.180.0.0/16,fd00:180::/32',
  '--conntrack-max-per-core',
  '0',
  '--conntrack-min',
  '0',
];

/** Prints the status and the body of an answer, whatever the status. */
const ASK = `
import sys, urllib.request, urllib.error
try:
    answer = urllib.request.urlopen(sys.argv[1], timeout=20)
except urllib.error.HTTPError as refused:
    answer = refused
print(answer.status)
sys.stdout.write(answer.read().decode())
`;

describe('test/lab/observe', () => {
  const shared = useLab();
  let api: ApiServer;
  let daemon: Daemon;
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-observe-'));

  before('an API server and a daemon on one node', async () => {
    const { lab } = shared();
    api = await startApiServer({ addresses: ['192.168.0.1'], certificateAddresses: ['192.168.0.1'] });
    for (const { name, addresses, zone } of lab.nodes) api.apply(node(name, [addresses.IPv4, addresses.IPv6], zone));
    api.apply(service(WEB));
    const pods = { IPv4: ['a1', 'b1'], IPv6: ['a1', 'a2'] } as const;
    for (const family of ['IPv4', 'IPv6'] as const) {
      const endpoints = pods[family]
        .map((name) => lab.pod(name))
        .map((pod) => ({
          address: pod.addresses[family],
          nodeName: pod.node ?? '',
        }));
      api.apply(slice(WEB, POD_PORT, endpoints, family));
    }
    daemon = startProxier(lab, 'node-a', api.kubeconfig(), folder, FLAGS);
    await waitFor(
      'the first pass',
      async () => daemon.log(),
      (text) => text.includes('node programmed'),
      {
        timeoutMs: 240_000,
      },
    );
  });

  after('the daemon and the API server', async () => {
    await daemon.stop();
    await api.stop();
  });

  async function ask({ namespace }: LabHost, url: string): Promise<{ readonly status: number; readonly body: string }> {
    const printed = await shared().lab.output(namespace, '/usr/bin/python3', ['-c', ASK, url]);
    const end = printed.indexOf('\n');
    return { status: Number(printed.slice(0, end)), body: printed.slice(end + 1) };
  }

  const inUrl = (address: string) => (address.includes(':') ? `[${address}]` : address);

  for (const [family, count] of [
    ['IPv4', 1],
    ['IPv6', 2],
  ] as const) {
    it(`answers a load balancer over ${family} at the health check port with the count of that family`, async () => {
      const address = shared().lab.node('node-a').addresses[family];
      const { status, body } = await ask(shared().lab.client(), `http://${inUrl(address)}:32100/`);
      expect([status, JSON.parse(body)]).to.deep.equal([
        200,
        { service: { namespace: NAMESPACE, name: 'web' }, localEndpoints: count, serviceProxyHealthy: true },
      ]);
    });

    it(`tells the outside over ${family} that the node is healthy`, async () => {
      const address = shared().lab.node('node-a').addresses[family];
      const { status, body } = await ask(shared().lab.client(), `http://${inUrl(address)}:10256/healthz`);
      expect([status, JSON.parse(body)].flat()).to.have.deep.property('0', 200);
      expect(JSON.parse(body)).to.include({ nodeEligible: true, healthy: true });
    });
  }

  it('counts real connections, packets and bytes by Service and backend', async () => {
    const { lab, traffic } = shared();
    const target = {
      from: lab.pod('a2').namespace,
      protocol: 'http',
      address: '10.96.0.10',
      port: 80,
      times: 6,
    } as const;
    const metrics = () => ask(lab.node('node-a'), 'http://127.0.0.1:10249/metrics');
    const frontend = { namespace: NAMESPACE, service: 'web', port: 'http', frontend: '10.96.0.10:80' };
    const backend = { ...frontend, backend: `${lab.pod('a1').addresses.IPv4}:${POD_PORT}` };
    const connections = ({ body }: { readonly body: string }) => ({
      server: seriesOf(parseExposition(body), 'ipvs_proxier_virtual_server_connections_total', frontend),
      backend: seriesOf(parseExposition(body), 'ipvs_proxier_real_server_connections_total', backend) ?? Number.NaN,
    });
    // A real server that returns to its virtual server has its counters from before, and another one may have its place in memory.
    const before = connections(await metrics());
    expect([...(await traffic.ask(target)).troubles]).to.deep.equal([]);
    // The kernel adds up what its processors have counted every two seconds.
    const { status, body } = await waitFor('six connections', metrics, (answer) => connections(answer).server === 6);
    const families = parseExposition(body);
    expect([status, lint(families)]).to.deep.equal([200, []]);
    expect(seriesOf(families, 'ipvs_proxier_virtual_server_outgoing_bytes_total', frontend)).to.be.greaterThan(500);
    expect(connections({ body }).backend - before.backend).to.equal(3);
    expect(seriesOf(families, 'ipvs_proxier_real_server_inactive_connections', backend)).to.be.at.least(0);
    expect(seriesOf(families, 'ipvs_proxier_bound_addresses', { ip_family: 'IPv6' })).to.equal(1);
    expect(seriesOf(families, 'rest_client_requests_total', { method: 'GET', code: '200' })).to.be.at.least(4);
  });

  it('keeps the metrics to the node itself by default', async () => {
    const address = shared().lab.node('node-a').addresses.IPv4;
    const ran = await shared().lab.run(shared().lab.client().namespace, '/usr/bin/python3', [
      '-c',
      ASK,
      `http://${address}:10249/metrics`,
    ]);
    expect(ran.exitCode).to.equal(1);
  });
});
