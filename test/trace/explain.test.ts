import { expect } from 'chai';
import type { Desired } from '../../src/desired/desired.ts';
import { clientsOf } from '../../src/explain/client.ts';
import { followPacket, type PacketWay } from '../../src/explain/packet.ts';
import type { RealServer } from '../../src/kernel/ipvs/state.ts';
import { familyOf, type IpAddress } from '../../src/net/ip-address.ts';
import { ip } from '../builders/net.ts';
import { caseDesired } from '../kernel/case-desired.ts';
import { type Case, loadCases, MEMORY_BEHAVIOURS } from '../kernel/cases.ts';
import type { NodeDescription } from './node.ts';
import type { Outcome } from './outcome.ts';
import { tracer } from './path.ts';

describe('test/trace/explain', () => {
  for (const behaviour of MEMORY_BEHAVIOURS) {
    for (const { path, content } of loadCases()) {
      it(`${path}, ${behaviour}: is explained as packets fare`, () => {
        for (const desired of caseDesired(content, behaviour).flat()) expectAgreement(content, desired);
      });
    }
  }
});

function expectAgreement(content: Case, desired: Desired): void {
  const { kernel, rules, owners } = desired;
  const uplink = describeNode(content, []).interfaces.get('eth0') ?? [];
  // Nothing is sent on from where there is no address of the family.
  if (!uplink.some((address) => familyOf(address) === kernel.family)) return;
  for (const { front, part } of owners.values()) {
    // A weight of 0 is chosen by nobody.
    const endpoints = [...front.server.realServers.values()].filter(({ weight }) => weight > 0);
    const sourceRanges = front.kind === 'load-balancer' ? part.port.loadBalancerSourceRanges : [];
    const surroundings = { rules, endpoints: part.endpoints, sourceRanges };
    for (const client of clientsOf(front.server.address, surroundings)) {
      const explained = followPacket(client, front.server, { rules, sets: kernel.sets });
      const pod = { address: client.source, interface: interfaceOf(desired) };
      const node = describeNode(content, client.isOwnPod ? [pod] : []);
      const { protocol, address: destination, port } = front.server;
      const traced = tracer(
        kernel,
        node,
      )({
        protocol,
        destination,
        port,
        ...(client.isNode ? {} : { source: client.source }),
        from: client.isNode ? 'process' : { interface: client.isOwnPod ? pod.interface : 'eth0' },
      });
      const label = `${front.kind} ${front.server.address}:${port}/${protocol} from ${client.who} ${client.source}`;
      // Masquerading changes nothing of what has the node's own address already.
      const isPlain = client.isNode && !front.bind;
      const said = wordFor(explained, endpoints);
      const fares = traced
        .filter((outcome) => !isHairpin(outcome, client.source))
        .map((outcome) => (isPlain && wordOf(outcome) === 'as it came' ? 'masqueraded' : wordOf(outcome)));
      if (fares.length > 0)
        expect([...new Set(fares)], label).to.deep.equal([isPlain && said === 'as it came' ? 'masqueraded' : said]);
    }
  }
}

/** Such a packet is masqueraded besides, whoever dials. */
function isHairpin(outcome: Outcome, source: IpAddress): boolean {
  return 'destination' in outcome && outcome.destination === source;
}

function wordOf(outcome: Outcome): string {
  if ('by' in outcome) return outcome.kind;
  return outcome.masqueraded ? 'masqueraded' : 'as it came';
}

function wordFor({ outcome, masqueraded }: PacketWay, endpoints: readonly RealServer[]): string {
  if (outcome === 'dropped') return 'dropped';
  if (outcome !== 'answered') return 'refused';
  expect(endpoints, 'endpoints of what is answered').to.not.deep.equal([]);
  return masqueraded ? 'masqueraded' : 'as it came';
}

/** A name by which the detector knows the interfaces of Pods, where it goes by that. */
function interfaceOf({ rules: { detector } }: Desired): string {
  return detector?.kind === 'interface' ? detector.name.replace(/\+$/, '0') : 'veth0';
}

function describeNode({ node }: Case, pods: NodeDescription['pods']): NodeDescription {
  const interfaces = Object.entries(node.addresses).map(
    ([name, list]) => [name, list.map((address) => ip(address.split('/')[0] ?? ''))] as const,
  );
  const known = new Map<string, readonly IpAddress[]>(interfaces);
  for (const pod of pods) known.set(pod.interface, []);
  return { interfaces: known, pods, builtIn: {}, listeners: [] };
}
