import { expect } from 'chai';
import { SET_DEFINITIONS } from '../../src/kernel/ipset/definitions.ts';
import { describeRefused } from '../../src/plan/refused.ts';
import type { PassReport } from '../../src/sync/proxier.ts';
import { endpointJson, nodeObject, type ObjectJson, serviceObject, sliceObject } from './cluster-objects.ts';
import { kernelText } from './kernel-text.ts';
import { NodeUnderTest } from './node-under-test.ts';
import { refuseLines } from './refusing-tools.ts';

/** One Service of each kind, each with a Pod on the node: `shop/plain`, `shop/ported`, `shop/closed`. */
const OBJECTS: readonly ObjectJson[] = [
  nodeObject('node-a', { addresses: ['192.168.0.10'] }),
  serviceObject('shop/plain', { clusterIPs: ['172.20.1.1'] }),
  serviceObject('shop/ported', {
    type: 'NodePort',
    clusterIPs: ['172.20.1.2'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }],
  }),
  serviceObject('shop/closed', {
    type: 'LoadBalancer',
    clusterIPs: ['172.20.1.3'],
    ingress: [{ ip: '198.51.100.1' }],
    loadBalancerSourceRanges: ['10.0.0.0/8'],
  }),
  ...['plain', 'ported', 'closed'].map((name, index) =>
    sliceObject(`shop/${name}-1`, { service: name, endpoints: [endpointJson(`10.180.0.${index + 1}`, 'node-a')] }),
  ),
];

/** Services `shop/s0`, … at 172.20.9.0, …, so many of them. */
function many(count: number): readonly ObjectJson[] {
  return Array.from({ length: count }, (_, index) =>
    serviceObject(`shop/s${index}`, { clusterIPs: [`172.20.9.${index}`] }),
  );
}

interface Consequence {
  /** Services whose set it is. */
  readonly of: readonly string[];
  /** What does not come without it. */
  readonly lacks?: readonly string[];
  /** What comes without endpoints, as they would answer in vain, or somebody whom they are closed to. */
  readonly empties?: readonly string[];
  /** The entry by which clients would get past the filter to what does not come. */
  readonly shut?: string;
}

const PORTALS: ReadonlySet<string> = new Set(['CLUSTER-IP', 'EXTERNAL-IP', 'EXTERNAL-IP-LOCAL', 'LOAD-BALANCER']);

describe('test/kernel/refused-sets', () => {
  const newNode = (setRoom?: number) =>
    new NodeUnderTest({ families: ['IPv4'], ...(setRoom ? { settings: { setRoom } } : {}) });
  const wanted = newNode();
  before(() => wanted.apply(OBJECTS));

  const consequences: Readonly<Record<string, Consequence>> = {
    'LOOP-BACK': { of: ['shop/closed', 'shop/plain', 'shop/ported'] },
    'CLUSTER-IP': {
      of: ['shop/closed', 'shop/plain', 'shop/ported'],
      empties: ['-t 172.20.1.1:80', '-t 172.20.1.2:80', '-t 172.20.1.3:80'],
    },
    'IPVS-IPS': { of: ['shop/closed', 'shop/plain', 'shop/ported'], empties: ['-t 198.51.100.1:80'] },
    'LOAD-BALANCER': { of: ['shop/closed'], empties: ['-t 198.51.100.1:80'] },
    'LOAD-BALANCER-FW': { of: ['shop/closed'], lacks: ['-t 198.51.100.1:80'], shut: '198.51.100.1,tcp:80' },
    'LOAD-BALANCER-SOURCE-CIDR': { of: ['shop/closed'] },
    'NODE-PORT-IP': { of: ['shop/ported'] },
    'NODE-PORT-TCP': { of: ['shop/ported'], lacks: ['-t 192.168.0.10:30080'] },
  };
  for (const { id } of SET_DEFINITIONS) {
    const { of, lacks = [], empties = [], shut } = consequences[id] ?? { of: [] };
    it(`KUBE-${id} cannot be made: told of ${of.join(', ') || 'nobody'}, without ${lacks.join() || 'nothing else'}; all else comes`, async () => {
      const node = newNode();
      const end = refuseLines(node.kernel, (line) => line.startsWith(`create KUBE-${id} `));
      node.record(OBJECTS);
      const report = await node.tryPass('full');
      expect(report.errors).to.deep.equal([]);
      expect(servicesIn(report)).to.deep.equal(of);
      expect(leftIn(report)).to.deep.equal(of.length > 0 ? [] : [`set KUBE-${id}`]);
      const lacking = (line: string) =>
        lacks.some((server) => line.includes(` ${server} `)) ||
        empties.some((server) => line.startsWith(`-a ${server} `));
      expect(node.ipvs()).to.deep.equal(wanted.ipvs().filter((line) => !lacking(line)));
      expect(node.bound()).to.deep.equal(
        id === 'IPVS-IPS'
          ? []
          : wanted.bound().filter((address) => !lacks.some((server) => server.includes(` ${address}:`))),
      );
      for (const { id: other } of SET_DEFINITIONS) {
        const name = `KUBE-${other}`;
        const entries = PORTALS.has(other) ? wanted.set(name)?.filter((entry) => entry !== shut) : wanted.set(name);
        expect(node.set(name), name).to.deep.equal(other === id ? undefined : entries);
      }
      const named = new RegExp(`^.*--match-set KUBE-${id} .*$`, 'gm');
      expect(node.kernel.tables.IPv4.save()).to.equal(
        wanted.kernel.tables.IPv4.save().replace(named, '').replace(/\n+/g, '\n'),
      );
      end();
      await node.pass('full');
      expect(kernelText(node.kernel)).to.equal(kernelText(wanted.kernel));
    });
  }

  it('goes on without any set of a kind that the kernel does not know, in one attempt', async () => {
    const node = newNode();
    refuseLines(node.kernel, (line) => /^create \S+ bitmap:port /.test(line));
    node.record(OBJECTS);
    const report = await node.tryPass('full');
    expect([report.errors, servicesIn(report)]).to.deep.equal([[], ['shop/ported']]);
    expect(leftIn(report)).to.have.lengthOf(4);
    expect(node.takeScripts().filter((script) => script.startsWith('ipset'))).to.have.lengthOf(3);
    expect(node.ipvs()).to.deep.equal(wanted.ipvs().filter((line) => !line.includes(':30080')));
  });

  it('lays it to nobody that no set at all can be made: the tool does not work', async () => {
    const node = newNode();
    const end = refuseLines(node.kernel, (line) => line.startsWith('create '));
    node.record(OBJECTS);
    const report = await node.tryPass('full');
    expect([report.errors.map(({ during }) => during), report.refusals]).to.deep.equal([['programming ipset'], []]);
    expect([node.ipvs(), node.bound()]).to.deep.equal([[], []]);
    end();
    await node.pass();
    expect(kernelText(node.kernel)).to.equal(kernelText(wanted.kernel));
  });

  it('holds back nobody else, pass after pass, and tries the set again with its Services', async () => {
    const node = newNode();
    const end = refuseLines(node.kernel, (line) => line.startsWith('create KUBE-LOAD-BALANCER-FW '));
    node.record(OBJECTS);
    await node.tryPass('full');
    node.takeScripts();
    node.record([...OBJECTS, ...many(1)]);
    const report = await node.tryPass('normal', (service) => service === 'shop/s0');
    expect([report.errors, report.refusals]).to.deep.equal([[], []]);
    expect(node.bound()).to.include('172.20.9.0');
    expect(node.takeScripts().join('')).to.not.include('create ');
    end();
    await node.tryPass('normal', (service) => service === 'shop/closed');
    expect(node.ipvs()).to.include('-A -t 198.51.100.1:80 -s rr');
  });

  it('does not let a frontend come with masquerading that it is to be spared, in a later pass either', async () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30081 }];
    const local = serviceObject('shop/closed', {
      type: 'LoadBalancer',
      clusterIPs: ['172.20.1.3'],
      ingress: [{ ip: '198.51.100.1' }],
      ports,
      externalTrafficPolicy: 'Local',
    });
    const node = newNode();
    const end = refuseLines(node.kernel, (line) => /^add KUBE-(LOAD-BALANCER|NODE-PORT)-LOCAL/.test(line));
    node.record([...OBJECTS.filter((object) => object !== OBJECTS[3]), local]);
    for (const kind of ['full', 'normal', 'full'] as const) {
      const report = await node.tryPass(kind);
      expect([report.errors, servicesIn(report)]).to.deep.equal([[], ['shop/closed']]);
      expect([node.set('KUBE-LOAD-BALANCER'), node.set('KUBE-NODE-PORT-TCP')]).to.deep.equal([[], ['30080', '30081']]);
      const of = node.ipvs().filter((line) => / 198\.51\.100\.1:80 | \S+:30081 /.test(line));
      expect(of, kind).to.deep.equal([]);
    }
    end();
    await node.pass('normal');
    expect(node.ipvs()).to.include('-A -t 198.51.100.1:80 -s rr').and.to.include('-A -t 192.168.0.10:30081 -s rr');
  });

  for (const [what, refused] of [
    ['the set that stands in for it cannot be made', /^create KUBE-EXCHANGE /],
    ['the swap is refused', /^swap /],
  ] as const) {
    it(`a set that has to grow takes what fits in while ${what}`, async () => {
      const node = newNode(4);
      await node.apply([...OBJECTS, ...many(1)]);
      const end = refuseLines(node.kernel, (line) => refused.test(line));
      node.record([...OBJECTS, ...many(3)]);
      const report = await node.tryPass('normal');
      expect(report.errors).to.deep.equal([]);
      expect(leftIn(report)).to.deep.equal(['change of set KUBE-CLUSTER-IP']);
      expect(new Set(servicesIn(report))).to.deep.equal(new Set(['shop/s1', 'shop/s2']));
      expect(node.set('KUBE-CLUSTER-IP')).to.have.lengthOf(4);
      node.record([...OBJECTS, ...many(1)]);
      await node.tryPass('normal');
      end();
      await node.pass('full');
      await node.apply([...OBJECTS, ...many(3)]);
      const fresh = newNode(4);
      await fresh.apply([...OBJECTS, ...many(3)]);
      expect(kernelText(node.kernel)).to.equal(kernelText(fresh.kernel));
    });
  }

  it('goes on where every exchange is refused, and blames nobody as long as all fits in', async () => {
    const node = newNode(16);
    await node.apply(OBJECTS);
    node.restart({ ...node.settings, setRoom: 32 });
    const end = refuseLines(node.kernel, (line) => line.startsWith('swap '));
    node.record([...OBJECTS, ...many(1)]);
    const report = await node.tryPass('full');
    expect([report.errors, report.refusals]).to.deep.equal([[], []]);
    expect(leftIn(report)).to.have.lengthOf.above(12);
    expect(node.bound()).to.include('172.20.9.0');
    end();
    await node.pass('full');
    const fresh = newNode(32);
    await fresh.apply([...OBJECTS, ...many(1)]);
    expect(kernelText(node.kernel)).to.equal(kernelText(fresh.kernel));
  });

  it('goes on where no stand-in takes an entry, however many sets are to be exchanged', async () => {
    const wide = { type: 'LoadBalancer', externalIPs: ['203.0.113.1'], ingress: [{ ip: '198.51.100.9' }] } as const;
    const ports = [{ name: 'sctp', protocol: 'SCTP', port: 80, nodePort: 30090 }];
    const more = [
      serviceObject('shop/wide', {
        ...wide,
        ports,
        clusterIPs: ['172.20.1.8'],
        loadBalancerSourceRanges: ['198.51.100.9/32'],
      }),
      serviceObject('shop/local', {
        type: 'LoadBalancer',
        clusterIPs: ['172.20.1.9'],
        ports: [{ name: 'sctp', protocol: 'SCTP', port: 80, nodePort: 30091 }],
        externalTrafficPolicy: 'Local',
        internalTrafficPolicy: 'Local',
        externalIPs: ['203.0.113.2'],
        ingress: [{ ip: '198.51.100.10' }],
      }),
      sliceObject('shop/local-1', {
        service: 'local',
        ports: [{ name: 'sctp', protocol: 'SCTP', port: 80 }],
        endpoints: [endpointJson('10.180.1.9', 'node-b')],
      }),
    ];
    const node = newNode(4);
    await node.apply([...OBJECTS, ...more, ...many(1)]);
    node.restart({ ...node.settings, setRoom: 32 });
    const end = refuseLines(node.kernel, (line) => line.startsWith('add '));
    node.record([...OBJECTS, ...more, ...many(2)]);
    const report = await node.tryPass('full');
    expect(report.errors).to.deep.equal([]);
    expect(servicesIn(report)).to.include('shop/s1');
    end();
    await node.pass('full');
    const fresh = newNode(32);
    await fresh.apply([...OBJECTS, ...more, ...many(2)]);
    expect(kernelText(node.kernel)).to.equal(kernelText(fresh.kernel));
  });

  it('has another one stand in for sets that grow while a stand-in does not go, and tries to let go of that again', async () => {
    const node = newNode(4);
    await node.apply([...OBJECTS, ...many(1)]);
    const end = refuseLines(node.kernel, (line) => line === 'destroy KUBE-EXCHANGE');
    for (const count of [2, 6, 14]) {
      node.record([...OBJECTS, ...many(count)]);
      const report = await node.tryPass('normal');
      expect([report.errors, report.refusals]).to.deep.equal([[], []]);
      expect(leftIn(report)).to.deep.equal(['deletion of set KUBE-EXCHANGE']);
      expect(node.set('KUBE-CLUSTER-IP')).to.have.lengthOf(3 + count);
    }
    expect(node.set('KUBE-EXCHANGE-2')).to.equal(undefined);
    end();
    await node.pass('full');
    const fresh = newNode(4);
    await fresh.apply([...OBJECTS, ...many(14)]);
    expect(kernelText(node.kernel)).to.equal(kernelText(fresh.kernel));
  });

  it('tries stand-ins that do not go again, and changes the sets as they stand until one has gone', async () => {
    const node = newNode(4);
    await node.apply([...OBJECTS, ...many(1)]);
    const end = refuseLines(node.kernel, (line) => line.startsWith('destroy KUBE-EXCHANGE'));
    for (const count of [2, 6]) {
      node.record([...OBJECTS, ...many(count)]);
      expect((await node.tryPass('normal')).errors).to.deep.equal([]);
    }
    node.record([...OBJECTS, ...many(1)]);
    expect((await node.tryPass('normal')).errors).to.deep.equal([]);
    expect(node.set('KUBE-CLUSTER-IP')).to.have.lengthOf(4);
    end();
    await node.pass('full');
    expect([node.set('KUBE-EXCHANGE'), node.set('KUBE-EXCHANGE-2')]).to.deep.equal([undefined, undefined]);
  });

  it('leaves out a set of another kind that the kernel does not destroy, though no rule is seen to name it', async () => {
    const node = newNode();
    node.kernel.ipsets.restore('create KUBE-LOAD-BALANCER-FW bitmap:port range 0-65535\n');
    const end = refuseLines(node.kernel, (line) => line === 'destroy KUBE-LOAD-BALANCER-FW');
    node.record(OBJECTS);
    const report = await node.tryPass('full');
    expect([report.errors, servicesIn(report)]).to.deep.equal([[], ['shop/closed']]);
    expect(node.ipvs()).to.deep.equal(wanted.ipvs().filter((line) => !line.includes('198.51.100.1')));
    end();
    await node.pass('full');
    expect(kernelText(node.kernel)).to.equal(kernelText(wanted.kernel));
  });
});

function servicesIn({ refusals }: PassReport): readonly string[] {
  return [...new Set(refusals.map(({ service }) => service))].sort();
}

function leftIn({ families }: PassReport): readonly string[] {
  return families.flatMap(({ leftovers }) => leftovers.map(({ refused }) => describeRefused(refused))).sort();
}
