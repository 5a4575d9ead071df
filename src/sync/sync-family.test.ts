import { expect } from 'chai';
import { ip, port } from '../../test/builders/net.ts';
import { portSpec, service, slice, sliceEndpoint, slicePort } from '../../test/builders/objects.ts';
import { proxierOn } from '../../test/builders/proxier.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import type { PassReport, Proxier } from './proxier.ts';

describe('sync/sync-family', () => {
  const dns = service({
    name: 'shop/dns',
    addresses: ['172.20.1.1', 'fd00:20::1'],
    ports: [portSpec({ name: 'dns', protocol: 'UDP', port: port(53) })],
  });
  const external = { ...dns, externalIPs: [ip('203.0.113.1')] };
  const before = slice({
    service: 'shop/dns',
    ports: [slicePort({ name: 'dns', protocol: 'UDP', port: port(5353) })],
    endpoints: [sliceEndpoint('10.180.0.1')],
  });
  const after = { ...before, endpoints: [sliceEndpoint('10.180.0.2')] };
  const stale = { from: '192.0.2.7:40000', to: '172.20.1.1:53', answeredBy: '10.180.0.1:5353' };
  let kernel: MemoryKernel;
  let proxier: Proxier;

  beforeEach(async () => {
    kernel = memoryKernel({ eth0: ['192.168.0.10/24', 'fd00:168::10/64'] });
    proxier = proxierOn(kernel);
    proxier.record.service(undefined, dns);
    proxier.record.slice(undefined, before);
    await proxier.pass('normal', ['start']);
    kernel.calls.splice(0);
  });

  const normal = () => proxier.pass('normal', ['services']);
  const ended = ({ families }: PassReport) => families.map(({ endedFlows }) => endedFlows);
  const flowErrors = ({ families }: PassReport) => families.map(({ flowsError }) => flowsError?.message);
  const commands = () => kernel.calls.splice(0).map(({ tool, args }) => [tool, ...args].join(' '));

  /** Makes one command of the tool fail until it is mended. */
  function spoil(argument: string): { mend(): void } {
    const { runTool } = kernel;
    kernel.runTool = async (call) =>
      call.tool === 'conntrack' && call.args.includes(argument)
        ? { ok: false, error: { kind: 'tool-refused', tool: 'conntrack', exitCode: 1, stderr: 'no', script: '' } }
        : runTool(call);
    return {
      mend: () => {
        kernel.runTool = runTool;
      },
    };
  }

  it('ends stale flows after programming, in the family that changed, and tells how many', async () => {
    kernel.conntrack.put(stale, { ...stale, from: '192.0.2.7:40001' });
    proxier.record.slice(before, after);
    const report = await normal();
    expect(ended(report)).to.deep.equal([2, 0]);
    expect(report.families[0]?.runs.map(({ tool, lines }) => [tool, lines])).to.deep.equal([
      ['ipvs', 2],
      ['conntrack', 1],
    ]);
    expect(commands()).to.deep.equal([
      'ipvsadm -R',
      'conntrack -L -p udp -f ipv4',
      'conntrack -D -f ipv4 -p udp --orig-dst 172.20.1.1 --orig-port-dst 53 --reply-src 10.180.0.1 --reply-port-src 5353',
    ]);
  });

  it('ends flows to a new address of a Service that were not sent on to an endpoint before', async () => {
    kernel.conntrack.put({ from: '192.0.2.7:40000', to: '203.0.113.1:53', answeredBy: '203.0.113.1:53' });
    proxier.record.service(dns, external);
    await normal();
    expect(kernel.conntrack.flows()).to.deep.equal([]);
  });

  it('ends flows to an address that is taken from a Service, but not those that its owner answers', async () => {
    proxier.record.service(dns, external);
    await normal();
    const own = { from: '192.0.2.8:40000', to: '203.0.113.1:53', answeredBy: '203.0.113.1:53' };
    kernel.conntrack.put(own, { ...stale, to: '203.0.113.1:53' });
    proxier.record.service(external, dns);
    await normal();
    expect(kernel.conntrack.flows()).to.deep.equal(['192.0.2.8:40000 > 203.0.113.1:53 > 203.0.113.1:53']);
  });

  it('ends the flows of a deleted Service', async () => {
    kernel.conntrack.put(stale, { from: '[fd00::7]:40000', to: '[fd00:20::1]:53', answeredBy: '[fd00:180::1]:5353' });
    proxier.record.service(dns, undefined);
    expect(ended(await normal())).to.deep.equal([1, 1]);
    expect(kernel.conntrack.flows()).to.deep.equal([]);
  });

  it('never fails because of flows, and tries in the next pass what it could not do', async () => {
    for (const argument of ['-L', '-D']) {
      kernel.conntrack.put(stale);
      proxier.record.slice(before, after);
      const { mend } = spoil(argument);
      const report = await normal();
      expect([report.errors, ended(report)]).to.deep.equal([[], [0, 0]]);
      expect(flowErrors(report)).to.deep.equal(['conntrack failed with status 1: no', undefined]);
      expect(flowErrors(await normal())).to.deep.equal(['conntrack failed with status 1: no', undefined]);
      mend();
      const mended = await normal();
      expect([ended(mended), flowErrors(mended)]).to.deep.equal([
        [1, 0],
        [undefined, undefined],
      ]);
      kernel.calls.splice(0);
      await normal();
      expect(commands()).to.deep.equal([]);
      proxier.record.slice(after, before);
      await normal();
    }
  });

  it('remembers over failed attempts an address that is not wanted any more', async () => {
    proxier.record.service(dns, external);
    await normal();
    kernel.conntrack.put({ ...stale, to: '203.0.113.1:53' });
    const { mend } = spoil('-L');
    proxier.record.service(external, dns);
    await normal();
    await normal();
    mend();
    await normal();
    expect(kernel.conntrack.flows()).to.deep.equal([]);
  });

  it('goes on in another pass, soon, where there is too much for one', async () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ ...stale, answeredBy: `10.180.1.${index}:5353` }));
    kernel.conntrack.put(...many);
    proxier.record.slice(before, after);
    const reports = [await normal(), await normal(), await normal()];
    expect(reports.map((report) => ended(report)[0])).to.deep.equal([50, 10, 0]);
    expect(reports.map(({ families: [IPv4] }) => IPv4?.lookAfterMs)).to.deep.equal([1000, undefined, undefined]);
  });

  it('ends stale flows although the kernel refuses something else', async () => {
    kernel.ipvs.refuse('10.180.0.3:5353');
    kernel.conntrack.put(stale);
    proxier.record.slice(before, { ...after, endpoints: [...after.endpoints, sliceEndpoint('10.180.0.3')] });
    const report = await normal();
    expect([report.errors, report.refusals.length]).to.deep.equal([[], 1]);
    expect(ended(report)).to.deep.equal([1, 0]);
  });

  it('leaves flows alone as long as a change could not be programmed, and ends them once it is', async () => {
    kernel.conntrack.put(stale);
    kernel.missing.add('ipvsadm');
    proxier.record.slice(before, after);
    expect((await normal()).errors).to.not.deep.equal([]);
    expect(commands().filter((command) => command.startsWith('conntrack'))).to.deep.equal([]);
    kernel.missing.clear();
    expect(ended(await normal())).to.deep.equal([1, 0]);
  });

  it('says nothing in passes about a missing tool, which was said at the start', async () => {
    kernel.missing.add('conntrack');
    kernel.conntrack.put(stale);
    proxier.record.slice(before, after);
    const report = await normal();
    expect([report.errors, flowErrors(report)]).to.deep.equal([[], [undefined, undefined]]);
    kernel.calls.splice(0);
    await normal();
    expect(commands()).to.deep.equal([]);
  });

  describe('an address that the kernel refuses', () => {
    const odd = service({ name: 'shop/odd', addresses: ['192.168.0.10'] });
    const web = service({
      name: 'shop/web',
      ...{ addresses: ['172.20.1.3'], type: 'NodePort', ports: [portSpec({ nodePort: port(30080) })] },
    });

    it('is laid to the Service that has it bound, and not to one that only listens at it', async () => {
      kernel.addresses.refuse('192.168.0.10/32');
      for (const each of [odd, web]) proxier.record.service(undefined, each);
      const report = await normal();
      expect(report.refusals.map(({ service: name, refused }) => ({ name, refused }))).to.deep.equal([
        { name: 'shop/odd', refused: { kind: 'address', address: '192.168.0.10' } },
      ]);
      expect(kernel.ipvs.save()).to.include('-A -t 192.168.0.10:30080 -s rr');
    });

    it('is not tried when only such another one has its turn', async () => {
      kernel.addresses.refuse('192.168.0.10/32');
      proxier.record.service(undefined, odd);
      await normal();
      kernel.calls.splice(0);
      proxier.record.service(undefined, web);
      const report = await proxier.pass('normal', ['services'], (name) => name === 'shop/web');
      expect(report.refusals).to.deep.equal([]);
      expect(kernel.calls.some(({ input }) => input?.includes('192.168.0.10/32'))).to.equal(false);
    });
  });
});
