import { expect } from 'chai';
import type { EndpointSlice } from '../../src/model/endpoint-slice.ts';
import type { Service } from '../../src/model/service.ts';
import type { Proxier } from '../../src/sync/proxier.ts';
import { ip, port } from '../builders/net.ts';
import { portSpec, service, slice, sliceEndpoint, slicePort } from '../builders/objects.ts';
import { proxierOn } from '../builders/proxier.ts';
import { type MemoryKernel, memoryKernel } from '../kernel/memory-kernel.ts';

describe('test/reports/conntrack', () => {
  const [oldPod, newPod] = ['10.180.0.1:5353', '10.180.0.2:5353'];
  const [clusterIP, externalIP, vip, nodePort] = [
    '172.20.1.1:53',
    '203.0.113.1:53',
    '203.0.113.2:53',
    '192.168.0.10:30053',
  ];
  const dns = service({
    name: 'shop/dns',
    type: 'LoadBalancer',
    externalIPs: [ip('203.0.113.1')],
    loadBalancerVIPs: [ip('203.0.113.2')],
    ports: [portSpec({ name: 'dns', protocol: 'UDP', port: port(53), nodePort: port(30053) })],
  });
  let kernel: MemoryKernel;
  let proxier: Proxier;

  beforeEach(async () => {
    kernel = memoryKernel({ eth0: ['192.168.0.10/24'] });
    proxier = startWith(endpoints('10.180.0.1'));
    await pass();
    kernel.calls.splice(0);
  });

  function endpoints(...addresses: readonly string[]): EndpointSlice {
    return slice({
      service: 'shop/dns',
      name: 'shop/dns-1',
      ports: [slicePort({ name: 'dns', protocol: 'UDP', port: port(5353) })],
      endpoints: addresses.map((address) => sliceEndpoint(address)),
    });
  }

  /** A process that is started with these objects. */
  function startWith(of: EndpointSlice, own: Service = dns): Proxier {
    const started = proxierOn(kernel);
    started.record.service(undefined, own);
    started.record.slice(undefined, of);
    return started;
  }

  async function pass(of = proxier, kind: 'normal' | 'full' = 'normal'): Promise<void> {
    expect((await of.pass(kind, ['endpoints'])).errors).to.deep.equal([]);
  }

  /** One flow of the same client, with its source port, for each pair of frontend and answerer. */
  function track(...pairs: readonly (readonly [to: string | undefined, answeredBy: string | undefined])[]): void {
    kernel.conntrack.put(...pairs.map(([to = '', answeredBy = '']) => ({ from: '192.0.2.7:40000', to, answeredBy })));
  }

  function tracked(): readonly string[] {
    return kernel.conntrack.flows().map((flow) => flow.replace('192.0.2.7:40000 > ', ''));
  }

  /** Commands of the tool for flows since the last call. */
  function commands(): readonly string[] {
    const calls = kernel.calls.splice(0).filter(({ tool }) => tool === 'conntrack');
    return calls.map(({ tool, args }) => [tool, ...args].join(' '));
  }

  const flow = (to: string | undefined, answeredBy: string | undefined) => `${to} > ${answeredBy}`;

  it('R26: ends flows from an external or load-balancer address to a pod that was replaced', async () => {
    track([externalIP, oldPod], [vip, oldPod], [externalIP, newPod]);
    proxier.record.slice(endpoints('10.180.0.1'), endpoints('10.180.0.2'));
    await pass();
    expect(tracked()).to.deep.equal([flow(externalIP, newPod)]);
    expect(commands()).to.deep.equal([
      'conntrack -L -p udp -f ipv4',
      'conntrack -D -f ipv4 -p udp --orig-dst 203.0.113.1 --orig-port-dst 53 --reply-src 10.180.0.1 --reply-port-src 5353',
      'conntrack -D -f ipv4 -p udp --orig-dst 203.0.113.2 --orig-port-dst 53 --reply-src 10.180.0.1 --reply-port-src 5353',
    ]);
  });

  it('R27: ends flows from a node port to a pod that was replaced, and none that pass by with that port', async () => {
    const elsewhere = '198.51.100.1:30053';
    track([nodePort, oldPod], [nodePort, newPod], [elsewhere, elsewhere], ['192.168.0.11:30053', oldPod]);
    proxier.record.slice(endpoints('10.180.0.1'), endpoints('10.180.0.2'));
    await pass();
    expect(tracked()).to.deep.equal([
      flow(nodePort, newPod),
      flow(elsewhere, elsewhere),
      flow('192.168.0.11:30053', oldPod),
    ]);
  });

  it('R27: ends flows from a node port that were there before its first endpoint', async () => {
    proxier.record.slice(endpoints('10.180.0.1'), endpoints());
    await pass();
    track([nodePort, nodePort]);
    proxier.record.slice(endpoints(), endpoints('10.180.0.2'));
    await pass();
    expect(tracked()).to.deep.equal([]);
  });

  it('R28: ends every flow of a Service that goes to no endpoints, in the same pass', async () => {
    track([clusterIP, oldPod], [externalIP, oldPod], [vip, oldPod], [nodePort, oldPod], ['172.20.1.9:53', oldPod]);
    proxier.record.slice(endpoints('10.180.0.1'), endpoints());
    await pass();
    expect(tracked()).to.deep.equal([flow('172.20.1.9:53', oldPod)]);
  });

  it('R28: ends every flow of a Service whose slice goes', async () => {
    track([clusterIP, oldPod]);
    proxier.record.slice(endpoints('10.180.0.1'), undefined);
    await pass();
    expect(tracked()).to.deep.equal([]);
  });

  it('R30: ends no flow and starts no tool in passes without a change, not even stale ones', async () => {
    track([clusterIP, oldPod], [clusterIP, newPod]);
    await pass();
    await pass();
    expect(kernel.calls).to.deep.equal([]);
    await pass(proxier, 'full');
    expect(commands()).to.deep.equal([]);
    expect(tracked()).to.deep.equal([flow(clusterIP, oldPod), flow(clusterIP, newPod)]);
  });

  it('R30: leaves running flows alone when an endpoint is added', async () => {
    track([clusterIP, oldPod], [nodePort, oldPod]);
    proxier.record.slice(endpoints('10.180.0.1'), endpoints('10.180.0.1', '10.180.0.2'));
    await pass();
    expect(commands()).to.deep.equal(['conntrack -L -p udp -f ipv4']);
    expect(tracked()).to.deep.equal([flow(clusterIP, oldPod), flow(nodePort, oldPod)]);
  });

  it('R31: leaves flows to live endpoints alone at a restart', async () => {
    track([clusterIP, oldPod], [externalIP, oldPod], [nodePort, oldPod]);
    await pass(startWith(endpoints('10.180.0.1')));
    expect(commands()).to.deep.equal(['conntrack -L -p udp -f ipv4']);
    expect(tracked()).to.have.lengthOf(3);
  });

  it('R32: ends flows to addresses that are no endpoints in the first pass after a restart', async () => {
    track([clusterIP, oldPod], [clusterIP, newPod], [nodePort, '10.180.9.9:5353'], ['172.20.1.9:53', oldPod]);
    await pass(startWith(endpoints('10.180.0.2')));
    expect(tracked()).to.deep.equal([flow(clusterIP, newPod), flow('172.20.1.9:53', oldPod)]);
  });

  it('R32: also when the API has no slice of the Service any more', async () => {
    track([clusterIP, oldPod]);
    const revived = proxierOn(kernel);
    revived.record.service(undefined, dns);
    await pass(revived);
    expect(tracked()).to.deep.equal([]);
  });
});
