import { expect } from 'chai';
import { Kernel } from '../../src/apply/kernel.ts';
import type { EndpointSlice } from '../../src/model/endpoint-slice.ts';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import { Proxier } from '../../src/sync/proxier.ts';
import { cidr, ip, port } from '../builders/net.ts';
import { portSpec, service, settings, slice, sliceEndpoint, slicePort } from '../builders/objects.ts';
import { netnsHost } from './netns-host.ts';
import { useLab } from './shared-lab.ts';
import { POD_PORT } from './standard-plan.ts';
import type { Connection } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const NODE = 'node-a';
/** Where a client dials, and from where. */
const FRONTENDS = {
  'cluster address': { from: 'a2', address: '10.96.0.10', port: 53 },
  'external address': { from: 'client', address: '203.0.113.10', port: 53 },
  'node port': { from: 'client', address: '192.168.0.11', port: 30053 },
  'IPv6 cluster address': { from: 'a2', address: 'fd00:96::10', port: 53 },
} as const;
type FrontendName = keyof typeof FRONTENDS;
const NAMES = Object.keys(FRONTENDS) as readonly FrontendName[];
const LATE_ADDRESS = '203.0.113.20';

const DNS = service({
  name: 'shop/dns',
  type: 'NodePort',
  addresses: ['10.96.0.10', 'fd00:96::10'],
  externalIPs: [ip('203.0.113.10')],
  ports: [portSpec({ name: 'dns', protocol: 'UDP', port: port(53), nodePort: port(30053) })],
});

describe('test/lab/conntrack', () => {
  const shared = useLab();
  let proxier: Proxier;
  let clientPort = 4000;
  let slices: Readonly<Partial<Record<Family, EndpointSlice>>> = {};

  before('a Service with one endpoint, and a route for addresses that are not served yet', async () => {
    const { lab } = shared();
    await lab.output(NODE, 'sysctl', ['-qw', 'net.ipv4.vs.conntrack=1', 'net.ipv4.vs.expire_nodest_conn=1']);
    await lab.output(NODE, 'ip', ['route', 'add', '203.0.113.0/24', 'via', lab.root.addresses.IPv4]);
    proxier = startProxier();
    proxier.record.service(undefined, DNS);
    await serve('a1');
  });

  after(() => shared().lab.run(NODE, 'ip', ['route', 'delete', '203.0.113.0/24']));

  function startProxier(): Proxier {
    return new Proxier({
      families: FAMILIES,
      nodeName: NODE,
      settings: settings({
        detectLocal: { kind: 'cluster-cidr', cidrs: ['10.180.0.0/16', 'fd00:180::/32'].map(cidr) },
      }),
      kernel: new Kernel(netnsHost(NODE), FAMILIES, () => 0),
      nowMs: () => 0,
    });
  }

  async function pass(of = proxier, kind: 'normal' | 'full' = 'normal'): Promise<number> {
    const { errors, families } = await of.pass(kind, ['endpoints']);
    expect([errors, families.flatMap(({ flowsError }) => flowsError ?? [])]).to.deep.equal([[], []]);
    return families.reduce((sum, { endedFlows }) => sum + endedFlows, 0);
  }

  /** Makes these pods the endpoints, in one pass; gives the number of flows that it ended. */
  async function serve(...pods: readonly string[]): Promise<number> {
    for (const family of FAMILIES) {
      const next = slice({
        service: 'shop/dns',
        name: `shop/dns-${family}`,
        family,
        ports: [slicePort({ name: 'dns', protocol: 'UDP', port: port(POD_PORT) })],
        endpoints: pods.map((name) => sliceEndpoint(shared().lab.pod(name).addresses[family])),
      });
      proxier.record.slice(slices[family], next);
      slices = { ...slices, [family]: next };
    }
    return pass();
  }

  /** Opens a flow from one local port, which `pod` has to answer. */
  async function open(name: FrontendName, pod: string): Promise<Connection> {
    const flow = await shared().traffic.open({ ...FRONTENDS[name], protocol: 'udp' });
    expect(flow.first, name).to.match(new RegExp(`^${pod} `));
    return flow;
  }

  /** The next packets of the flow; the kernel drops those that meet it while it still takes the old endpoint away. */
  async function answered(flow: Connection, pod: string): Promise<void> {
    await waitFor(
      `an answer of ${pod}`,
      () => flow.again(500),
      (answer) => answer.startsWith(`${pod} `),
      { timeoutMs: 5000 },
    );
  }

  /** Tracked flows to a frontend, as `id answerer`. */
  async function tracked(name: FrontendName): Promise<readonly string[]> {
    const { address, port: number } = FRONTENDS[name];
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    const filter = ['-p', 'udp', '--orig-dst', address, '--orig-port-dst', `${number}`];
    const list = await shared().lab.output(NODE, 'conntrack', ['-L', '-f', family, ...filter, '-o', 'id']);
    const line = /.*\bsrc=(\S+) dst=\S+ sport=\d+ dport=\d+ .*\bid=(\d+)/g;
    return [...list.matchAll(line)].map(([, answerer, id]) => `${id} ${answerer}`).sort();
  }

  /** Puts a flow to a pod into the table that IPVS does not know of, from a client's port that nothing else uses. */
  async function plant(name: FrontendName, pod: string): Promise<void> {
    clientPort += 1;
    const { address, port: number } = FRONTENDS[name];
    const family = address.includes(':') ? 'IPv6' : 'IPv4';
    const [client, endpoint] = [shared().lab.client().addresses[family], shared().lab.pod(pod).addresses[family]];
    const original = ['-s', client, '-d', address, '--sport', `${clientPort}`, '--dport', `${number}`];
    const reply = [
      '-r',
      endpoint,
      '-q',
      client,
      '--reply-port-src',
      `${POD_PORT}`,
      '--reply-port-dst',
      `${clientPort}`,
    ];
    await shared().lab.output(NODE, 'conntrack', ['-I', '-p', 'udp', ...original, ...reply, '-t', '120']);
  }

  it('R26, R27: takes flows through every kind of frontend to the new pod, and leaves none to the old one in the table', async () => {
    const flows: Connection[] = [];
    for (const name of NAMES) flows.push(await open(name, 'a1'));
    for (const name of NAMES) await plant(name, 'a1');
    expect(await serve('b1')).to.be.at.least(NAMES.length);
    for (const name of NAMES) expect(await tracked(name), name).to.deep.equal([]);
    for (const flow of flows) await answered(flow, 'b1');
    for (const name of NAMES)
      expect((await tracked(name)).join(), name).to.match(/^\d+ (10\.180\.2\.11|fd00:180:2::11)$/);
    for (const flow of flows) await flow.close();
  });

  it('R30, R31: leaves running flows alone in passes without a change, when an endpoint is added, and at a restart', async () => {
    const flow = await open('external address', 'b1');
    await plant('node port', 'b1');
    const table = async () => [await tracked('external address'), await tracked('node port')];
    const before = await table();
    expect(before.flat()).to.have.length.greaterThan(1);
    expect([await pass(), await pass(proxier, 'full'), await serve('a1', 'b1')]).to.deep.equal([0, 0, 0]);
    const successor = startProxier();
    successor.record.service(undefined, DNS);
    for (const family of FAMILIES) successor.record.slice(undefined, slices[family]);
    expect(await pass(successor)).to.equal(0);
    expect(await table()).to.deep.equal(before);
    await answered(flow, 'b1');
    await flow.close();
  });

  it('R32: ends a flow to a pod that is no endpoint in the first pass after a restart', async () => {
    await plant('cluster address', 'a2');
    proxier = startProxier();
    proxier.record.service(undefined, DNS);
    for (const family of FAMILIES) proxier.record.slice(undefined, slices[family]);
    expect(await pass()).to.equal(1);
  });

  it('R28: ends every flow of a Service that goes to no endpoints, in the same pass, and the kernel refuses the next packet', async () => {
    await serve('b1');
    const flow = await open('external address', 'b1');
    for (const name of NAMES) await plant(name, 'b1');
    await serve();
    for (const name of NAMES) expect(await tracked(name), name).to.deep.equal([]);
    expect(await flow.again()).to.equal('refused');
    await serve('b1');
    await answered(flow, 'b1');
    await flow.close();
  });

  it('serves a client that has dialled an address since before it became one of the Service', async () => {
    const flow = await shared().traffic.open({
      from: 'client',
      protocol: 'udp',
      address: LATE_ADDRESS,
      port: 53,
      patienceMs: 300,
    });
    expect(flow.first).to.not.match(/^b1 /);
    proxier.record.service(DNS, { ...DNS, externalIPs: [...DNS.externalIPs, ip(LATE_ADDRESS)] });
    expect(await pass()).to.equal(1);
    await answered(flow, 'b1');
    await flow.close();
  });
});
