import { expect } from 'chai';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import { callApi } from '../apiserver/call-api.ts';
import { type At, frontend, outcomes } from './dial.ts';
import { useLabCluster } from './lab-cluster.ts';
import { NAMESPACE, service } from './objects.ts';
import { addressesOf, externalAddress, nodePort, type Offer, sketchOf } from './offers.ts';
import type { Connection, TrafficProtocol } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const SWITCHED: Offer = { name: 'switched', number: 51, type: 'ClusterIP', pods: ['a1', 'b1'] };
const NAMED: Offer = { name: 'named', number: 52, type: 'ClusterIP', pods: ['a1', 'b1'] };
const RETYPED: Offer = { name: 'retyped', number: 53, type: 'LoadBalancer', pods: ['a1', 'b1'] };
const WAITING: Offer = { name: 'waiting', number: 54, type: 'LoadBalancer', pods: ['a1'] };
const CYCLED: Offer = { name: 'cycled', number: 55, type: 'NodePort', pods: ['b1'] };

describe('test/lab/service-changes', () => {
  const cluster = useLabCluster();
  let held: Connection;
  /** One local port each, for both families: of a pod, of the node and of a client outside. */
  let sockets: readonly Connection[] = [];

  before('every Service, with connections to two of them', async () => {
    await cluster().offer(SWITCHED, NAMED, RETYPED, WAITING, CYCLED);
    held = await open('a2', 'tcp', RETYPED, 'cluster', 'IPv4');
    sockets = await Promise.all(
      FAMILIES.flatMap((family) => [
        open('a2', 'udp', CYCLED, 'cluster', family),
        open('node-a', 'udp', CYCLED, 'cluster', family),
        open('client', 'udp', CYCLED, 'node-a', family),
      ]),
    );
  });
  after('the connections', () => Promise.all([held, ...sockets].map((one) => one.close())));

  it('serves them', async () => {
    for (const offer of [SWITCHED, NAMED]) expect(await ask('a2', offer, 'cluster')).to.deep.equal(['a1', 'b1']);
    expect(await ask('client', RETYPED, 'external')).to.deep.equal(['a1', 'b1']);
    expect(await ask('client', WAITING, 'external')).to.deep.equal(['a1']);
    expect(sockets.map(({ first }) => first.split(' ')[0])).to.deep.equal(sockets.map(() => 'b1'));
  });

  describe('after one is headless, one an ExternalName, one without its address and two without endpoints', () => {
    before('that change', async () => {
      const { api, apply, programmed } = cluster();
      const empty = [WAITING, CYCLED].map((offer) => ({ ...offer, pods: [] }));
      api.apply(withSpec(SWITCHED, { clusterIP: 'None', clusterIPs: ['None'] }));
      api.apply(withSpec(NAMED, { type: 'ExternalName', externalName: 'shop.example' }));
      await callApi(api, {
        method: 'PATCH',
        path: `/api/v1/namespaces/${NAMESPACE}/services/${RETYPED.name}/status`,
        headers: { 'Content-Type': 'application/merge-patch+json' },
        body: { status: { loadBalancer: { ingress: null } } },
      });
      await apply(...empty);
      await programmed(...empty);
      await gone([...addressesOf(SWITCHED), ...addressesOf(NAMED), ...externalAddresses(RETYPED)]);
    });

    it('has no address of the headless Service and of the ExternalName', async () => {
      for (const offer of [SWITCHED, NAMED]) {
        expect(await ask('a2', offer, 'cluster', ['tcp'])).to.deep.equal(['unreachable']);
      }
    });

    it('serves the node port of a load balancer that announces no address any more', async () => {
      expect(await ask('client', RETYPED, 'node-a')).to.deep.equal(['a1', 'b1']);
    });

    it('refuses at once what has no endpoints, at every address', async () => {
      const told = await Promise.all([
        ask('a2', WAITING, 'cluster'),
        ask('client', WAITING, 'external'),
        ask('client', WAITING, 'node-b'),
      ]);
      expect(told).to.deep.equal([['refused'], ['refused'], ['refused']]);
    });

    it('refuses the next packets of UDP sockets that had an endpoint before', async () => {
      await Promise.all(sockets.map((socket) => saysSoon(socket, /^(refused|forbidden)$/)));
    });
  });

  describe('after they are what they were, the load balancer a ClusterIP, and other pods are there', () => {
    const moved = [WAITING, CYCLED].map((offer) => ({ ...offer, pods: ['b2'] }));

    before('that change', async () => {
      const { lab, offer, virtualServers } = cluster();
      await offer(SWITCHED, NAMED, { ...RETYPED, type: 'ClusterIP' }, ...moved);
      for (const { name } of lab.nodes) {
        await virtualServers(name, (lines) => !lines.some((line) => line.includes(`:${nodePort(RETYPED)} `)));
      }
    });

    it('serves what was headless or an ExternalName', async () => {
      for (const offer of [SWITCHED, NAMED]) expect(await ask('a2', offer, 'cluster')).to.deep.equal(['a1', 'b1']);
    });

    it('refuses the node port of what is a ClusterIP now, and keeps the connection to its cluster address', async () => {
      expect(await ask('client', RETYPED, 'node-a')).to.deep.equal(['refused']);
      expect(await ask('a2', RETYPED, 'cluster')).to.deep.equal(['a1', 'b1']);
      expect(await held.again()).to.equal(held.first);
    });

    it('serves what had no endpoints, at every address', async () => {
      expect(await ask('a2', WAITING, 'cluster')).to.deep.equal(['b2']);
      expect(await ask('client', WAITING, 'external')).to.deep.equal(['b2']);
      expect(await ask('client', WAITING, 'node-b')).to.deep.equal(['b2']);
    });

    it('answers the same UDP sockets by the new pod', async () => {
      await Promise.all(sockets.map((socket) => saysSoon(socket, /^b2 /)));
    });
  });

  function open(from: string, protocol: TrafficProtocol, offer: Offer, at: At, family: Family): Promise<Connection> {
    const { lab, traffic } = cluster();
    return traffic.open({ from, protocol, ...frontend(lab, offer, at, family) });
  }

  /** The refusal of an earlier packet may be told to a later one, so not the first answer counts. */
  async function saysSoon(socket: Connection, wanted: RegExp): Promise<void> {
    const limits = { timeoutMs: 5000, everyMs: 1 };
    await waitFor(
      `an answer like ${wanted}`,
      () => socket.again(500),
      (text) => wanted.test(text),
      limits,
    );
  }

  /** Resolves when no node has these addresses or a virtual server there. */
  async function gone(addresses: readonly string[]): Promise<void> {
    for (const { name } of cluster().lab.nodes) {
      await cluster().bound(name, (there) => !there.some((address) => addresses.includes(address)));
      await cluster().virtualServers(name, (lines) => !lines.some((line) => addresses.some((one) => names(line, one))));
    }
  }

  /** Servers that answered, or what happened instead; the same over both families and all protocols. */
  async function ask(from: string, offer: Offer, at: At, protocols: readonly TrafficProtocol[] = ['tcp', 'udp']) {
    const { lab, traffic } = cluster();
    const asked = FAMILIES.flatMap((family) =>
      protocols.map((protocol) => traffic.ask({ from, protocol, ...frontend(lab, offer, at, family), times: 2 })),
    );
    const [first = [], ...others] = (await Promise.all(asked)).map(outcomes);
    expect(others, `${from} at ${at}`).to.deep.equal(others.map(() => first));
    return first;
  }
});

function externalAddresses(offer: Offer): readonly string[] {
  return FAMILIES.map((family) => externalAddress(offer, family));
}

/** The Service with other fields in its spec. */
function withSpec(offer: Offer, spec: object): object {
  const whole = service(sketchOf(offer));
  return { ...whole, spec: { ...(whole.spec as object), ...spec } };
}

function names(line: string, address: string): boolean {
  return line.includes(address.includes(':') ? ` [${address}]:` : ` ${address}:`);
}
