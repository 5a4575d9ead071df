import { expect } from 'chai';
import type { ProxySettings } from '../../../src/desired/settings.ts';
import { cidr } from '../../builders/net.ts';
import { tracer } from '../../trace/path.ts';
import { readState } from '../../trace/states.ts';
import {
  endpointJson,
  nodeObject,
  type ObjectJson,
  type ServiceFields,
  serviceObject,
  sliceObject,
} from '../cluster-objects.ts';
import { NodeUnderTest } from '../node-under-test.ts';
import { refuseLines } from '../refusing-tools.ts';
import { type Answer, answerOf } from './answers.ts';
import { NODE, NODE_LINKS } from './ground.ts';
import { questionsOf } from './questions.ts';

/** `shop/web` with these Pods: 1 and 2 are on the node, 3 is elsewhere. */
function web(fields: ServiceFields, pods: readonly number[]): readonly ObjectJson[] {
  return [
    nodeObject('node-a', { addresses: ['192.168.0.10'], podCIDRs: ['10.180.0.0/24'] }),
    nodeObject('node-b', { addresses: ['192.168.0.11'], podCIDRs: ['10.180.1.0/24'] }),
    serviceObject('shop/web', fields),
    sliceObject('shop/web-1', {
      service: 'web',
      endpoints: pods.map((pod) => endpointJson(`10.180.0.${pod}`, pod < 3 ? 'node-a' : 'node-b')),
    }),
  ];
}

const CLUSTER_CIDR: Partial<ProxySettings> = {
  detectLocal: { kind: 'cluster-cidr', cidrs: [cidr('10.180.0.0/16')] },
};

function newNode(): NodeUnderTest {
  return new NodeUnderTest({ families: ['IPv4'], links: NODE_LINKS, settings: CLUSTER_CIDR });
}

/** What becomes of connections to a frontend, by their sender. */
async function answers(node: NodeUnderTest, frontend: string): Promise<ReadonlyMap<string, Answer>> {
  const state = await readState(node.kernel, 'IPv4');
  const follow = tracer(state, NODE);
  const asked = questionsOf([state]).filter(({ name }) => name.endsWith(` → ${frontend}`));
  return new Map(asked.map(({ name, packet }) => [name.split(' → ')[0] ?? '', answerOf(packet, follow(packet))]));
}

interface Guard {
  readonly what: string;
  readonly old: readonly [ServiceFields, readonly number[]];
  readonly now: readonly [ServiceFields, readonly number[]];
  readonly frontend: string;
  /** Lines that bring the guard; `*filter` and `*nat`: the rules of a table. */
  readonly lines: readonly string[];
  readonly sender: string;
  readonly harm: 'isOpen' | 'isInVain';
}

const LB: ServiceFields = { type: 'LoadBalancer', ingress: [{ ip: '198.51.100.1' }] };
const LOCAL: ServiceFields = { ...LB, externalTrafficPolicy: 'Local', healthCheckNodePort: 32001 };
const EXTERNAL: ServiceFields = { type: 'NodePort', externalIPs: ['203.0.113.1'] };

const GUARDS: readonly Guard[] = [
  {
    what: 'source ranges of a load balancer without endpoints',
    old: [LB, []],
    now: [{ ...LB, loadBalancerSourceRanges: ['10.0.0.0/8'] }, [1]],
    frontend: 'TCP 198.51.100.1 port 80',
    lines: ['add KUBE-LOAD-BALANCER-FW 198.51.100.1,6:80', '*filter'],
    sender: 'a stranger',
    harm: 'isOpen',
  },
  {
    what: 'ranges that are closed to the node',
    old: [LB, []],
    now: [{ ...LB, loadBalancerSourceRanges: ['10.7.0.0/16'] }, [1]],
    frontend: 'TCP 198.51.100.1 port 80',
    lines: ['*filter'],
    sender: 'the node',
    harm: 'isOpen',
  },
  {
    what: 'policy Local without a local endpoint',
    old: [LB, []],
    now: [LOCAL, [3]],
    frontend: 'TCP 198.51.100.1 port 80',
    lines: ['add KUBE-EXTERNAL-NO-LOCAL 198.51.100.1,6:80', '*nat'],
    sender: 'a stranger',
    harm: 'isOpen',
  },
  {
    what: 'internal policy Local without a local endpoint',
    old: [{}, []],
    now: [{ internalTrafficPolicy: 'Local' }, [3]],
    frontend: 'TCP 172.20.1.1 port 80',
    lines: ['add KUBE-CLUSTER-IP-NO-LOCAL 172.20.1.1,6:80'],
    sender: 'a Pod',
    harm: 'isOpen',
  },
  {
    what: 'masquerading of an external address that had policy Local',
    old: [{ ...EXTERNAL, externalTrafficPolicy: 'Local' }, [1]],
    now: [EXTERNAL, [1, 3]],
    frontend: 'TCP 203.0.113.1 port 80',
    lines: ['add KUBE-EXTERNAL-IP 203.0.113.1,6:80', '*nat'],
    sender: 'a stranger',
    harm: 'isInVain',
  },
];

describe('test/kernel/packets/guards', () => {
  for (const { what, old, now, frontend, lines, sender, harm } of GUARDS) {
    for (const refused of lines) {
      it(`${what}: no new endpoints while "${refused}" is refused, and all of them afterwards`, async () => {
        const node = newNode();
        await node.apply(web(...old));
        let isHit = false;
        const end = refuseLines(node.kernel, (line) => {
          isHit ||= line === refused;
          return line === refused;
        });
        node.record(web(...now));
        for (const _ of ['found', 'held back']) {
          await node.tryPass('normal');
          const meanwhile = await answers(node, frontend);
          expect(meanwhile.get(sender)?.[harm], meanwhile.get(sender)?.text).to.equal(false);
        }
        expect(isHit).to.equal(true);
        end();
        await node.pass();
        const undisturbed = newNode();
        await undisturbed.apply(web(...now));
        expect(await answers(node, frontend)).to.deep.equal(await answers(undisturbed, frontend));
      });
    }
  }

  it('source ranges: endpoints go on being followed while rules are refused that have nothing to do with them', async () => {
    const ranges = { ...LB, loadBalancerSourceRanges: ['10.0.0.0/8'] };
    const node = newNode();
    await node.apply(web(ranges, [1]));
    refuseLines(node.kernel, (line) => line === '*nat');
    node.record(web({ ...ranges, externalIPs: ['203.0.113.1'] }, [2]));
    const report = await node.tryPass('normal');
    expect(report.errors.length).to.equal(1);
    const served = await answers(node, 'TCP 198.51.100.1 port 80');
    expect(served.get('a client of 10.0.0.0/8')?.text).to.equal('delivered to 10.180.0.2 port 8080 as 10.180.0.254');
    expect(served.get('a stranger')?.isOpen).to.equal(false);
  });

  it('source ranges: an endpoint that drains is not taken back while rules are refused', async () => {
    const ranges = { ...LB, loadBalancerSourceRanges: ['10.0.0.0/8'] };
    const node = newNode();
    await node.apply(web(LB, [1]));
    node.record(web(LB, []));
    await node.passOnce();
    refuseLines(node.kernel, (line) => line === '*filter');
    node.record(web(ranges, [1]));
    await node.tryPass('normal');
    expect((await answers(node, 'TCP 198.51.100.1 port 80')).get('a stranger')?.isOpen).to.equal(false);
  });

  it('a cluster address whose entry is refused is refused to everybody at once, and the node does not wait in vain', async () => {
    const node = newNode();
    const end = refuseLines(node.kernel, (line) => line === 'add KUBE-CLUSTER-IP 172.20.1.1,6:80');
    node.record(web({}, [1, 3]));
    await node.tryPass('normal');
    const meanwhile = await answers(node, 'TCP 172.20.1.1 port 80');
    expect(Object.fromEntries([...meanwhile].map(([sender, { text }]) => [sender, text]))).to.deep.equal({
      'a client of 10.0.0.0/8': 'refused by KUBE-IPVS-FILTER',
      'a neighbour': 'refused by KUBE-IPVS-FILTER',
      'a stranger': 'refused by KUBE-IPVS-FILTER',
      'a Pod': 'refused by KUBE-IPVS-FILTER',
      'the node': 'refused by IPVS',
    });
    end();
    await node.pass();
    const served = await answers(node, 'TCP 172.20.1.1 port 80');
    expect([...served.values()].every(({ isServed }) => isServed)).to.equal(true);
  });
});
