import { expect } from 'chai';
import { cidr, ip, port } from '../../test/builders/net.ts';
import { portSpec, service, settings, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { proxierOn, takeCalls } from '../../test/builders/proxier.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { refuseLines } from '../../test/kernel/refusing-tools.ts';
import type { ClusterNode } from '../model/node-view.ts';
import { describeRefused } from '../plan/refused.ts';
import type { PassReport, Proxier } from './proxier.ts';

const LOCAL = { nodeName: 'node-a' };

/** Changes rules too. */
const CLOSED = {
  loadBalancerVIPs: [ip('203.0.113.1')],
  loadBalancerSourceRanges: [cidr('198.51.100.0/24')],
};

/** Virtual servers come first: they are also read from a file, without a tool. */
const EVERY_READ = ['ipvsadm', 'ipset', 'ip', 'iptables-save', 'ip6tables-save'];

describe('sync/proxier', () => {
  let kernel: MemoryKernel;
  let proxier: Proxier;
  let nowMs = 0;
  const cart = service({ addresses: ['172.20.1.1', 'fd00:20::1'] });
  const endpoints = slice({ endpoints: [sliceEndpoint('10.180.0.1'), sliceEndpoint('10.180.0.2')] });
  const oneEndpoint = slice({ endpoints: [sliceEndpoint('10.180.0.2')] });
  const endpoints6 = slice({ name: 'shop/cart-6', family: 'IPv6', endpoints: [sliceEndpoint('fd00:180::1')] });
  const programmed = [
    '-A -t 172.20.1.1:80 -s rr',
    '-A -t [fd00:20::1]:80 -s rr',
    '-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1',
    '-a -t 172.20.1.1:80 -r 10.180.0.2:8080 -m -w 1',
    '-a -t [fd00:20::1]:80 -r [fd00:180::1]:8080 -m -w 1',
  ];

  beforeEach(() => {
    kernel = memoryKernel({ eth0: ['192.168.0.10/24', 'fd00:168::10/64'] });
    nowMs = 0;
    proxier = proxierOn(kernel, { nowMs: () => nowMs });
    proxier.record.service(undefined, cart);
    proxier.record.slice(undefined, endpoints);
    proxier.record.slice(undefined, endpoints6);
  });

  function ipvsLines(of = kernel): string[] {
    return of.ipvs.save().split('\n').filter(Boolean).sort();
  }

  const normal = (of = proxier) => of.pass('normal', ['services']);

  it('reads the kernel before the first pass, whatever it is asked for, and programs both families', async () => {
    const report = await normal();
    expect([report.kind, report.errors, report.reasons]).to.deep.equal(['full', [], ['services']]);
    expect(ipvsLines()).to.deep.equal(programmed);
    expect(kernel.addresses.addresses('kube-ipvs0').sort()).to.deep.equal(['172.20.1.1', 'fd00:20::1']);
    expect(report.families.map(({ changedServices }) => changedServices)).to.deep.equal([1, 1]);
    const { reads, writes } = takeCalls(kernel);
    expect(reads).to.have.members(EVERY_READ);
    const forBoth = ['ipset', 'ipset', 'ipvsadm', 'ipvsadm', 'ip', 'ip'];
    expect(writes[0]).to.equal('ip');
    expect(writes.slice(1)).to.have.members([...forBoth, 'iptables-restore', 'ip6tables-restore']);
    expect(writes.filter((tool) => tool.endsWith('restore') || tool === 'ipset').slice(0, 2)).to.deep.equal([
      'ipset',
      'ipset',
    ]);
  });

  it('starts no tool in the next pass when nothing has changed', async () => {
    await normal();
    takeCalls(kernel);
    const report = await normal();
    expect([report.kind, report.errors, report.families.map(({ runs }) => runs)]).to.deep.equal([
      'normal',
      [],
      [[], []],
    ]);
    expect(kernel.calls).to.deep.equal([]);
  });

  it('reads everything and writes nothing in a full pass when nothing has changed', async () => {
    await normal();
    takeCalls(kernel);
    const report = await proxier.pass('full', ['periodic']);
    expect([report.kind, report.errors]).to.deep.equal(['full', []]);
    const { reads, writes } = takeCalls(kernel);
    expect(reads).to.include.members(EVERY_READ.slice(1));
    expect(writes).to.deep.equal([]);
  });

  it('starts only the tool that a change needs, and reports what ran', async () => {
    await normal();
    takeCalls(kernel);
    proxier.record.slice(endpoints, oneEndpoint);
    const report = await normal();
    expect(kernel.calls.map(({ tool, input }) => [tool, input])).to.deep.equal([
      ['ipvsadm', '-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 0\n'],
    ]);
    expect(report.families.map(({ runs, changedServices }) => [runs, changedServices])).to.deep.equal([
      [[{ tool: 'ipvs', lines: 1, tookMs: 0 }], 1],
      [[], 0],
    ]);
  });

  it('says of each event whether a pass is needed', () => {
    expect(proxier.record.service(cart, { ...cart, affinitySeconds: 60 }).kind).to.equal('material');
    expect(proxier.record.slice(endpoints, endpoints).kind).to.equal('immaterial');
    expect(proxier.record.slice(endpoints, oneEndpoint).kind).to.equal('material');
    expect(proxierOn(kernel).record.service(undefined, service({ clusterIP: 'None' })).kind).to.equal('not-ours');
    const node: ClusterNode = { name: 'node-a', zone: 'zone-a', podCIDRs: [], addresses: [] };
    expect(proxier.record.node(node)).to.equal(true);
    expect(proxier.record.node({ ...node })).to.equal(false);
    expect(proxier.record.node({ ...node, zone: 'zone-b' })).to.equal(true);
  });

  it('follows the Node in the next pass', async () => {
    const hinted = slice({
      endpoints: [
        sliceEndpoint('10.180.0.1', { zoneHints: ['zone-a'] }),
        sliceEndpoint('10.180.0.2', { zoneHints: ['zone-b'] }),
      ],
    });
    proxier.record.slice(endpoints, hinted);
    proxier.record.node({ name: 'node-a', zone: 'zone-b', podCIDRs: [], addresses: [] });
    await normal();
    expect(ipvsLines()).to.deep.equal(programmed.filter((line) => !line.includes('10.180.0.1:')));
    proxier.record.node({ name: 'node-a', zone: undefined, podCIDRs: [], addresses: [] });
    await normal();
    expect(ipvsLines()).to.deep.equal(programmed);
  });

  it('asks for a pass when the addresses of the other Nodes change, not when something else of them does', () => {
    const [b, c] = [[ip('192.168.0.11')], [ip('192.168.0.12')]];
    expect(proxier.record.otherNode(undefined, b)).to.equal(true);
    expect(proxier.record.otherNode(b, [...b])).to.equal(false);
    expect(proxier.record.otherNode(undefined, [])).to.equal(false);
    expect(proxier.record.otherNode(b, c)).to.equal(true);
    expect(proxier.record.otherNode(c, undefined)).to.equal(true);
    proxier.record.node({ name: 'node-a', zone: undefined, podCIDRs: [], addresses: b });
    expect(proxier.record.otherNode(undefined, b)).to.equal(false);
  });

  it('R58: neither binds nor serves an external IP from when on another Node has it, until that Node has gone', async () => {
    const external = ip('192.168.0.11');
    proxier.record.service(cart, { ...cart, externalIPs: [external] });
    await normal();
    const bound = () => kernel.addresses.addresses('kube-ipvs0').includes(external);
    expect([bound(), ipvsLines().includes('-A -t 192.168.0.11:80 -s rr')]).to.deep.equal([true, true]);
    proxier.record.otherNode(undefined, [external]);
    await normal();
    expect(bound()).to.equal(false);
    expect(ipvsLines()).to.deep.equal(programmed);
    proxier.record.otherNode([external], undefined);
    await normal();
    expect(bound()).to.equal(true);
  });

  it('starts no tool because of a Node whose addresses no Service uses', async () => {
    await normal();
    takeCalls(kernel);
    proxier.record.otherNode(undefined, [ip('192.168.0.11')]);
    const report = await normal();
    expect([report.errors, takeCalls(kernel)]).to.deep.equal([[], { reads: [], writes: [] }]);
  });

  it('tells Pods by the ranges of the Node where it is to', async () => {
    const byNode = proxierOn(kernel, { settings: settings({ detectLocal: { kind: 'node-cidr' } }) });
    byNode.record.service(undefined, cart);
    await normal(byNode);
    expect(kernel.tables.IPv4.save()).to.not.include('! -s');
    byNode.record.node({
      name: 'node-a',
      zone: undefined,
      podCIDRs: ['10.180.0.0/24', 'fd00:180::/64'].map(cidr),
      addresses: [],
    });
    await normal(byNode);
    expect(kernel.tables.IPv4.save()).to.include('-A KUBE-SERVICES ! -s 10.180.0.0/24 ');
    expect(kernel.tables.IPv6.save()).to.include('-A KUBE-SERVICES ! -s fd00:180::/64 ');
  });

  it('follows addresses of the node in the next full pass', async () => {
    const nodePort = service({
      name: 'shop/np',
      addresses: ['172.20.1.2'],
      ports: [portSpec({ nodePort: port(30080) })],
    });
    proxier.record.service(undefined, nodePort);
    await normal();
    kernel.addresses.put('eth1', '192.168.1.10/24');
    await normal();
    expect(ipvsLines()).to.not.include('-A -t 192.168.1.10:30080 -s rr');
    await proxier.pass('full', ['periodic']);
    expect(ipvsLines()).to.include('-A -t 192.168.1.10:30080 -s rr');
  });

  it('takes everything of a Service away when it goes', async () => {
    await normal();
    proxier.record.service(cart, undefined);
    const report = await normal();
    expect(report.errors).to.deep.equal([]);
    expect([ipvsLines(), kernel.addresses.addresses('kube-ipvs0')]).to.deep.equal([[], []]);
    expect(kernel.ipsets.save()).to.not.match(/^add /m);
  });

  it('puts back in a full pass what somebody else took away', async () => {
    await normal();
    const filled = kernel.ipsets.save();
    kernel.ipvs.restore('-D -t 172.20.1.1:80\n');
    kernel.ipsets.restore('del KUBE-CLUSTER-IP 172.20.1.1,6:80\n');
    kernel.tables.IPv4.restore('*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n');
    kernel.addresses.batch('address delete 172.20.1.1/32 dev kube-ipvs0\n');
    const rules = kernel.tables.IPv6.save();
    await proxier.pass('full', ['periodic']);
    expect(ipvsLines()).to.deep.equal(programmed);
    expect(kernel.addresses.addresses('kube-ipvs0').sort()).to.deep.equal(['172.20.1.1', 'fd00:20::1']);
    expect(kernel.ipsets.save().split('\n').sort()).to.deep.equal(filled.split('\n').sort());
    expect(kernel.tables.IPv4.save()).to.include('-A KUBE-SERVICES -s 127.0.0.0/8 -j RETURN\n');
    expect(kernel.tables.IPv6.save()).to.equal(rules);
  });

  it('goes on where another process of the same kind left off, writing nothing that is there', async () => {
    await normal();
    takeCalls(kernel);
    const successor = proxierOn(kernel, { nowMs: () => nowMs });
    successor.record.service(undefined, cart);
    successor.record.slice(undefined, oneEndpoint);
    successor.record.slice(undefined, endpoints6);
    const report = await normal(successor);
    expect(report.errors).to.deep.equal([]);
    expect(kernel.calls.filter(({ input }) => input).map(({ input }) => input)).to.deep.equal([
      '-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 0\n',
    ]);
    nowMs += 1000;
    await normal(successor);
    expect(ipvsLines()).to.deep.equal(programmed.filter((line) => !line.includes('10.180.0.1:')));
  });

  it('leaves virtual servers and addresses of others alone, unless it is to behave like kube-proxy', async () => {
    kernel.ipvs.restore('-A -t 10.9.9.9:443 -s wlc\n');
    kernel.addresses.put('kube-ipvs0', '10.9.9.8/32');
    const report = await normal();
    expect(report.families[0]?.plan?.kept.map(({ why }) => why)).to.deep.equal(['foreign']);
    expect(ipvsLines()).to.include('-A -t 10.9.9.9:443 -s wlc');
    expect(kernel.addresses.addresses('kube-ipvs0')).to.include('10.9.9.8');
    const strict = proxierOn(kernel, { settings: settings({ behaviour: 'kube-proxy' }) });
    strict.record.service(undefined, cart);
    await normal(strict);
    expect(ipvsLines()).to.not.include('-A -t 10.9.9.9:443 -s wlc');
    expect(kernel.addresses.addresses('kube-ipvs0')).to.not.include('10.9.9.8');
  });

  it('programs only the families that it is given', async () => {
    const single = proxierOn(kernel, { families: ['IPv6'] });
    single.record.service(undefined, cart);
    expect((await normal(single)).errors).to.deep.equal([]);
    expect(ipvsLines()).to.deep.equal(['-A -t [fd00:20::1]:80 -s rr']);
    expect(kernel.calls.map(({ tool }) => tool)).to.not.include.members(['iptables-save']);
  });

  describe('draining', () => {
    it('keeps a real server with connections, counts it, and deletes it after the last one', async () => {
      await normal();
      kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 2);
      proxier.record.slice(endpoints, oneEndpoint);
      const started = await normal();
      expect(started.families.map(({ draining, lookAfterMs }) => [draining, lookAfterMs])).to.deep.equal([
        [1, 1000],
        [0, undefined],
      ]);
      expect(ipvsLines()).to.include('-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 0');
      nowMs += 1000;
      expect((await normal()).families.map(({ draining, runs }) => [draining, runs])).to.deep.equal([
        [1, []],
        [0, []],
      ]);
      kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 0);
      expect((await normal()).families.map(({ draining }) => draining)).to.deep.equal([1, 0]);
      nowMs += 2000;
      expect((await normal()).families.map(({ draining }) => draining)).to.deep.equal([0, 0]);
      expect(ipvsLines()).to.deep.equal(programmed.filter((line) => !line.includes('10.180.0.1:')));
    });

    it('R39: lets go of what is left after its time, and of nothing before', async () => {
      const limited = proxierOn(kernel, {
        nowMs: () => nowMs,
        draining: { limitMs: 60_000, ofDeletedServices: false, closingMs: 0 },
      });
      limited.record.service(undefined, cart);
      limited.record.slice(undefined, endpoints);
      await normal(limited);
      kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 2);
      limited.record.slice(endpoints, oneEndpoint);
      const startMs = nowMs;
      let report = await normal(limited);
      for (let pass = 0; pass < 20 && report.families[0]?.lookAfterMs !== undefined; pass += 1) {
        expect(ipvsLines().join('\n')).to.include('10.180.0.1:8080 -m -w 0');
        nowMs += report.families[0].lookAfterMs;
        report = await normal(limited);
      }
      expect(nowMs - startMs).to.equal(60_000);
      expect(ipvsLines().join('\n')).to.not.include('10.180.0.1:');
    });

    it('lets the connections of a deleted Service end where that is asked for, also over a restart', async () => {
      const given = { nowMs: () => nowMs, draining: { limitMs: 0, ofDeletedServices: true, closingMs: 0 } };
      const patient = proxierOn(kernel, given);
      patient.record.service(undefined, cart);
      patient.record.slice(undefined, endpoints);
      await normal(patient);
      kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 2);
      patient.record.service(cart, undefined);
      await normal(patient);
      const lingers = () => {
        expect(ipvsLines().filter((line) => line.includes('172.20.1.1'))).to.include.members([
          '-A -t 172.20.1.1:80 -s rr',
          '-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 0',
        ]);
        expect(kernel.addresses.addresses('kube-ipvs0')).to.include('172.20.1.1');
      };
      lingers();
      nowMs += 1000;
      await normal(patient);
      lingers();
      const successor = proxierOn(kernel, given);
      await normal(successor);
      nowMs += 1000;
      await normal(successor);
      lingers();
      kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 0);
      nowMs += 10_000;
      await normal(successor);
      expect(ipvsLines()).to.deep.equal([]);
      expect(kernel.addresses.addresses('kube-ipvs0')).to.deep.equal([]);
      expect(kernel.ipsets.save()).to.not.include('172.20.1.1');
    });

    it('gives a real server its weight back when it is wanted again', async () => {
      await normal();
      kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 2);
      proxier.record.slice(endpoints, oneEndpoint);
      await normal();
      takeCalls(kernel);
      proxier.record.slice(oneEndpoint, endpoints);
      await normal();
      expect(kernel.calls.map(({ input }) => input)).to.deep.equal([
        '-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1\n',
      ]);
    });
  });

  describe('a look for what others have done', () => {
    const drift = async () => {
      const found = await proxier.findDrift();
      return found.ok ? found.value : [found.error.message];
    };
    const flushes: readonly (readonly [string, () => unknown, string])[] = [
      [
        'the rules of a chain',
        () => kernel.tables.IPv4.restore('*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n'),
        'IPv4 rules of KUBE-SERVICES in table nat',
      ],
      [
        'rules of IPv6',
        () => kernel.tables.IPv6.restore('*filter\n:KUBE-FORWARD - [0:0]\nCOMMIT\n'),
        'IPv6 rules of KUBE-FORWARD in table filter',
      ],
      ['a set', () => kernel.ipsets.restore('flush KUBE-CLUSTER-IP\n'), 'IPv4 set KUBE-CLUSTER-IP'],
      ['a set of IPv6', () => kernel.ipsets.restore('flush KUBE-6-IPVS-IPS\n'), 'IPv6 set KUBE-6-IPVS-IPS'],
      [
        'virtual servers',
        () => kernel.ipvs.restore('-D -t 172.20.1.1:80\n-D -t [fd00:20::1]:80\n'),
        'IPv4 virtual server TCP 172.20.1.1:80, IPv6 virtual server TCP [fd00:20::1]:80',
      ],
    ];
    it('finds nothing in it that a set lacks which the kernel does not make, with its rules', async () => {
      refuseLines(kernel, (line) => line.startsWith('create KUBE-CLUSTER-IP '));
      expect(leftOut(await normal())).to.deep.equal(['set KUBE-CLUSTER-IP']);
      expect(await drift()).to.deep.equal([]);
      kernel.tables.IPv4.restore('*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n');
      expect(await drift()).to.deep.equal(['IPv4 rules of KUBE-SERVICES in table nat']);
    });

    for (const [what, flush, found] of flushes) {
      it(`R132: finds ${what} flushed, and the pass that follows mends it and nothing else`, async () => {
        await normal();
        const before = [ipvsLines(), kernel.tables.IPv4.save(), kernel.tables.IPv6.save()];
        const sets = kernel.ipsets.save().split('\n').sort();
        flush();
        expect((await drift()).join(', ')).to.equal(found);
        expect((await proxier.pass('normal', ['drift'])).kind).to.equal('full');
        expect([ipvsLines(), kernel.tables.IPv4.save(), kernel.tables.IPv6.save()]).to.deep.equal(before);
        expect(kernel.ipsets.save().split('\n').sort()).to.deep.equal(sets);
        expect(await drift()).to.deep.equal([]);
      });
    }

    it('sees nothing where all is well, or before the first pass, and nothing of what is not ours', async () => {
      expect(await drift()).to.deep.equal([]);
      await normal();
      kernel.tables.IPv4.restore('*nat\n:CUSTOM - [0:0]\n-A CUSTOM -j ACCEPT\nCOMMIT\n');
      kernel.ipsets.restore('create custom hash:ip family inet hashsize 1024 maxelem 65536\n');
      takeCalls(kernel);
      expect(await drift()).to.deep.equal([]);
      expect([...takeCalls(kernel).reads].sort()).to.deep.equal([
        'ip6tables-save',
        'ipset',
        'ipset',
        'iptables-save',
        'ipvsadm',
        'ipvsadm',
      ]);
    });

    it('finds nothing while a pass is on its way, or when one was meanwhile', async () => {
      await normal();
      kernel.ipsets.restore('flush KUBE-CLUSTER-IP\n');
      const passing = normal();
      expect(await drift()).to.deep.equal([]);
      await passing;
      const looking = drift();
      await normal();
      expect(await looking).to.deep.equal([]);
    });

    it('says why it cannot look', async () => {
      await normal();
      kernel.missing.add('ipset');
      expect(await drift()).to.deep.equal(["ipset is not installed or not on PATH; install Debian's package ipset"]);
    });
  });

  describe('when something fails', () => {
    const writers = ['ipset', 'iptables-restore', 'ipvsadm', 'ip', 'ip6tables-restore'] as const;
    for (const tool of writers) {
      it(`reports it, reads everything anew in the next pass and converges: no ${tool}`, async () => {
        kernel.missing.add(tool);
        const failed = await normal();
        expect(failed.errors.map(({ message }) => message).join()).to.include(`${tool} is not installed`);
        kernel.missing.clear();
        takeCalls(kernel);
        const next = await normal();
        expect([next.kind, next.errors]).to.deep.equal(['full', []]);
        expect(takeCalls(kernel).reads).to.include.members(EVERY_READ.slice(1));
        expect(ipvsLines()).to.deep.equal(programmed);
        expect((await normal()).kind).to.equal('normal');
      });
    }

    it('programs the other family all the same', async () => {
      kernel.missing.add('iptables-restore');
      const report = await normal();
      expect(report.errors.map(({ during, message }) => `${during}: ${message}`)).to.deep.equal([
        "programming iptables: iptables-restore is not installed or not on PATH; install Debian's package iptables",
      ]);
      expect(report.families.map(({ error }) => error === undefined)).to.deep.equal([false, true]);
      expect(ipvsLines()).to.deep.equal(programmed.filter((line) => line.includes('fd00')));
    });

    for (const tool of ['ipset', 'iptables-restore', 'ip'] as const) {
      it(`goes on with endpoints of virtual servers that stand, and with nothing else, when ${tool} fails`, async () => {
        await normal();
        const moved = slice({ endpoints: [sliceEndpoint('10.180.0.3')] });
        proxier.record.slice(endpoints, moved);
        proxier.record.service(undefined, service({ name: 'shop/new', addresses: ['172.20.1.2'] }));
        proxier.record.slice(
          undefined,
          slice({ name: 'shop/new-1', service: 'shop/new', endpoints: [sliceEndpoint('10.180.0.9', LOCAL)] }),
        );
        proxier.record.service(undefined, service({ name: 'shop/vip', addresses: ['172.20.1.3'], ...CLOSED }));
        const { runTool } = kernel;
        kernel.runTool = async (call) =>
          call.tool === tool && call.input !== undefined
            ? { ok: false, error: { kind: 'tool-timeout', tool, afterMs: 1 } }
            : runTool(call);
        const report = await normal();
        expect(report.errors.map(({ message }) => message)).to.deep.equal([
          `${tool} did not end within 1 ms and was stopped`,
        ]);
        const serving = ipvsLines().filter((line) => line.includes(' 172.20.1.1:') && !line.endsWith(' -w 0'));
        expect(serving).to.deep.equal(['-A -t 172.20.1.1:80 -s rr', '-a -t 172.20.1.1:80 -r 10.180.0.3:8080 -m -w 1']);
        expect(kernel.addresses.addresses('kube-ipvs0')).to.not.include('172.20.1.2');
        kernel.runTool = runTool;
        expect((await normal()).errors).to.deep.equal([]);
        expect(kernel.addresses.addresses('kube-ipvs0')).to.include('172.20.1.2');
      });
    }

    it('goes on with endpoints of virtual servers that stand when ipset refuses one line after the other', async () => {
      await normal();
      proxier.record.slice(endpoints, slice({ endpoints: [sliceEndpoint('10.180.0.3')] }));
      for (let last = 1; last <= 9; last += 1) {
        proxier.record.service(undefined, service({ name: `shop/new-${last}`, addresses: [`172.20.2.${last}`] }));
      }
      const { runTool } = kernel;
      const stderr = 'ipset v7.17: Error in line 1: Kernel error received: Operation not permitted\n';
      kernel.runTool = async (call) =>
        call.tool === 'ipset' && call.input !== undefined
          ? { ok: false, error: { kind: 'tool-refused', tool: 'ipset', exitCode: 1, stderr, script: '' } }
          : runTool(call);
      const report = await normal();
      expect(report.errors.map(({ during }) => during)).to.deep.equal(['programming ipset']);
      expect(ipvsLines()).to.include('-a -t 172.20.1.1:80 -r 10.180.0.3:8080 -m -w 1');
      kernel.runTool = runTool;
      expect((await normal()).errors).to.deep.equal([]);
      expect(kernel.addresses.addresses('kube-ipvs0')).to.include('172.20.2.9');
    });

    it('leaves out an entry that its set does not take, and does everything else', async () => {
      await normal();
      proxier.record.service(undefined, service({ name: 'shop/new', addresses: ['172.20.1.2'] }));
      proxier.record.service(undefined, service({ name: 'shop/other', addresses: ['172.20.1.3'] }));
      const { runTool } = kernel;
      kernel.runTool = async (call) => {
        const lines = call.tool === 'ipset' ? (call.input ?? '').split('\n') : [];
        const at = lines.findIndex((line) => line.startsWith('add KUBE-CLUSTER-IP 172.20.1.2,'));
        if (at < 0) return runTool(call);
        await runTool({
          ...call,
          input: lines
            .slice(0, at)
            .map((line) => `${line}\n`)
            .join(''),
        });
        const stderr = `ipset v7.17: Error in line ${at + 1}: Hash is full, cannot add more elements\n`;
        return { ok: false, error: { kind: 'tool-refused', tool: 'ipset', exitCode: 1, stderr, script: '' } };
      };
      const report = await normal();
      expect([report.errors, leftOut(report)]).to.deep.equal([[], ['entry 172.20.1.2,tcp:80 of set KUBE-CLUSTER-IP']]);
      expect(report.refusals.map(({ service: name }) => name)).to.deep.equal(['shop/new']);
      expect(kernel.addresses.addresses('kube-ipvs0')).to.include.members(['172.20.1.2', '172.20.1.3']);
      kernel.runTool = runTool;
      expect((await normal()).refusals).to.deep.equal([]);
      expect(kernel.ipsets.save()).to.include('add KUBE-CLUSTER-IP 172.20.1.2,tcp:80');
    });

    it('does not take later steps of the family: no address without its virtual server', async () => {
      kernel.missing.add('ipvsadm');
      await normal();
      expect(kernel.addresses.addresses('kube-ipvs0')).to.deep.equal([]);
    });

    it('says what a tool said when it refuses', async () => {
      await normal();
      kernel.ipvs.restore('-D -t 172.20.1.1:80\n');
      proxier.record.slice(endpoints, oneEndpoint);
      kernel.runTool = refusing(kernel, 'ipvsadm', 'Memory allocation problem\n');
      const report = await normal();
      expect(report.errors).to.deep.equal([]);
      expect(report.refusals.map(({ message }) => message)).to.deep.equal([
        'ipvsadm failed with status 255: Memory allocation problem',
      ]);
      expect(leftOut(report)).to.deep.equal(['virtual server TCP 172.20.1.1:80']);
    });

    it('does everything else when the kernel refuses one real server, and names it', async () => {
      kernel.ipvs.refuse('10.180.0.1:8080');
      const report = await normal();
      expect(report.errors).to.deep.equal([]);
      expect(report.refusals.map(({ service: name, message }) => [name, message])).to.deep.equal([
        ['shop/cart', 'ipvsadm failed with status 0: Invalid operation'],
      ]);
      expect(leftOut(report)).to.deep.equal(['real server 10.180.0.1:8080 of TCP 172.20.1.1:80']);
      expect(ipvsLines()).to.deep.equal(programmed.filter((line) => !line.includes('10.180.0.1')));
      expect(kernel.addresses.addresses('kube-ipvs0').sort()).to.deep.equal(['172.20.1.1', 'fd00:20::1']);
    });

    it('binds no address whose only virtual server was refused, and all others', async () => {
      proxier.record.service(undefined, service({ name: 'shop/other', addresses: ['172.20.1.2'] }));
      kernel.ipvs.refuse('172.20.1.1:80');
      const report = await normal();
      expect(leftOut(report)).to.deep.equal(['virtual server TCP 172.20.1.1:80']);
      expect(kernel.addresses.addresses('kube-ipvs0').sort()).to.deep.equal(['172.20.1.2', 'fd00:20::1']);
    });

    it('binds every other address when one is refused', async () => {
      proxier.record.service(undefined, service({ name: 'shop/other', addresses: ['172.20.1.2'] }));
      kernel.addresses.refuse('172.20.1.1/32');
      const report = await normal();
      expect(leftOut(report)).to.deep.equal(['address 172.20.1.1']);
      expect(kernel.addresses.addresses('kube-ipvs0').sort()).to.deep.equal(['172.20.1.2', 'fd00:20::1']);
      expect(ipvsLines()).to.include('-A -t 172.20.1.1:80 -s rr');
    });

    it('takes back in what was refused once the kernel agrees', async () => {
      kernel.ipvs.refuse('10.180.0.1:8080');
      await normal();
      kernel.ipvs.refuse();
      expect((await normal()).refusals).to.deep.equal([]);
      expect(ipvsLines()).to.deep.equal(programmed);
    });

    it('does not try what was refused for the sake of others, and keeps from nothing else', async () => {
      kernel.ipvs.refuse('10.180.0.1:8080');
      await normal();
      takeCalls(kernel);
      proxier.record.service(undefined, service({ name: 'shop/other', addresses: ['172.20.1.2'] }));
      const report = await proxier.pass('normal', ['services'], (name) => name === 'shop/other');
      expect([report.errors, report.refusals]).to.deep.equal([[], []]);
      expect(takeCalls(kernel).writes).to.deep.equal(['ipset', 'ipvsadm', 'ip']);
      expect(ipvsLines()).to.include('-A -t 172.20.1.2:80 -s rr');
      expect(ipvsLines().join()).to.not.include('10.180.0.1:');
    });

    it('blames the Service whose address is refused, and forgets it when nobody wants it any more', async () => {
      kernel.addresses.refuse('172.20.1.1/32');
      const report = await normal();
      expect(report.refusals.map(({ service: name }) => name)).to.deep.equal(['shop/cart']);
      proxier.record.service(cart, undefined);
      await proxier.pass('normal', ['services'], () => false);
      kernel.addresses.refuse();
      proxier.record.service(undefined, cart);
      expect((await proxier.pass('normal', ['services'], () => false)).refusals).to.deep.equal([]);
      expect(kernel.addresses.addresses('kube-ipvs0')).to.include('172.20.1.1');
    });

    it('changes nothing but endpoints of virtual servers that stand when sets cannot be read, and reads the kernel anew in the next pass', async () => {
      await normal();
      proxier.record.slice(endpoints, oneEndpoint);
      kernel.missing.add('ipset');
      takeCalls(kernel);
      const failed = await proxier.pass('full', ['periodic']);
      expect(failed.errors.map(({ during }) => during)).to.deep.equal(['reading the kernel']);
      expect(takeCalls(kernel).writes).to.deep.equal(['ipvsadm']);
      expect(ipvsLines()).to.include('-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 0');
      kernel.missing.clear();
      kernel.addresses.put('eth1', '192.168.1.10/24');
      proxier.record.service(
        undefined,
        service({ name: 'shop/np', addresses: ['172.20.1.2'], ports: [portSpec({ nodePort: port(30080) })] }),
      );
      const next = await normal();
      expect([next.kind, next.errors]).to.deep.equal(['full', []]);
      expect(ipvsLines()).to.include.members(['-A -t 192.168.1.10:30080 -s rr']);
      expect(ipvsLines().join()).to.not.include('-r 10.180.0.1:8080');
    });

    it('programs IPv4 when the rules of IPv6 cannot be read', async () => {
      kernel.missing.add('ip6tables-save');
      const report = await normal();
      expect(report.errors.map(({ during }) => during)).to.deep.equal(['reading the kernel']);
      expect(ipvsLines()).to.deep.equal(programmed.filter((line) => !line.includes('fd00')));
      kernel.missing.clear();
      expect((await normal()).errors).to.deep.equal([]);
      expect(ipvsLines()).to.deep.equal(programmed);
    });

    it('makes a set of ours anew that is another one', async () => {
      kernel.ipsets.restore('create KUBE-CLUSTER-IP bitmap:port range 0-65535\n');
      const report = await normal();
      expect(report.errors).to.deep.equal([]);
      expect(ipvsLines()).to.deep.equal(programmed);
      expect(kernel.ipsets.save()).to.include('create KUBE-CLUSTER-IP hash:ip,port family inet');
    });

    it('leaves out a set of another kind that somebody else uses, says so of the Services in it, and does all else', async () => {
      kernel.ipsets.restore('create KUBE-LOAD-BALANCER-FW bitmap:port range 0-65535\n');
      const theirs = '-I INPUT -m set --match-set KUBE-LOAD-BALANCER-FW dst -j DROP';
      kernel.tables.IPv4.restore(`*filter\n${theirs}\nCOMMIT\n`);
      proxier.record.service(undefined, service({ name: 'shop/vip', addresses: ['172.20.1.3'], ...CLOSED }));
      const report = await normal();
      expect(report.errors).to.deep.equal([]);
      expect(report.refusals).to.deep.equal([
        {
          service: 'shop/vip',
          refused: { kind: 'set', set: 'KUBE-LOAD-BALANCER-FW' },
          message:
            'set KUBE-LOAD-BALANCER-FW has another type and is named by a rule of chain INPUT in table filter; take that rule out',
        },
      ]);
      expect(ipvsLines()).to.deep.equal([...programmed, '-A -t 172.20.1.3:80 -s rr'].sort());
      expect(kernel.ipsets.save()).to.include('create KUBE-LOAD-BALANCER-FW bitmap:port range 0-65535\n');
      kernel.tables.IPv4.restore(`*filter\n${theirs.replace('-I', '-D')}\nCOMMIT\n`);
      expect((await proxier.pass('full', ['test'])).refusals).to.deep.equal([]);
      expect(ipvsLines()).to.include('-A -t 203.0.113.1:80 -s rr');
    });

    describe('goes on with endpoints of virtual servers that stand, pass after pass, while', () => {
      const obstacles: Readonly<Record<string, () => void>> = {
        'sets cannot be read': () => kernel.missing.add('ipset'),
        'rules cannot be read': () => kernel.missing.add('iptables-save'),
        'rules cannot be written': () => kernel.missing.add('iptables-restore'),
        'addresses cannot be read': () => kernel.missing.add('ip'),
      };
      for (const [what, obstruct] of Object.entries(obstacles)) {
        it(what, async () => {
          await normal();
          obstruct();
          proxier.requireFullPass();
          proxier.record.service(undefined, service({ name: 'shop/vip', addresses: ['172.20.1.3'], ...CLOSED }));
          let present = endpoints;
          for (const address of ['10.180.0.3', '10.180.0.4']) {
            const moved = slice({ endpoints: [sliceEndpoint(address)] });
            proxier.record.slice(present, moved);
            present = moved;
            for (let pass = 0; pass < 2; pass += 1) expect((await normal()).errors).to.have.lengthOf(1);
            const serving = ipvsLines().filter((line) => line.startsWith('-a -t 172.20.1.1:'));
            expect(serving).to.deep.equal([`-a -t 172.20.1.1:80 -r ${address}:8080 -m -w 1`]);
          }
        });
      }

      it('nothing keeps clients outside from endpoints elsewhere: it gets none of these', async () => {
        const vip = { addresses: ['172.20.1.3'], loadBalancerVIPs: [ip('203.0.113.1')] };
        const local = service({ name: 'shop/local', ...vip, externalTrafficPolicy: 'Local', type: 'LoadBalancer' });
        const near = slice({
          name: 'shop/local-1',
          service: 'shop/local',
          endpoints: [sliceEndpoint('10.180.0.7', LOCAL)],
        });
        proxier.record.service(undefined, local);
        proxier.record.slice(undefined, near);
        await normal();
        kernel.missing.add('ipset');
        proxier.record.slice(near, slice({ ...near, service: 'shop/local', endpoints: [sliceEndpoint('10.180.1.7')] }));
        for (let pass = 0; pass < 2; pass += 1) await normal();
        expect(ipvsLines().filter((line) => line.includes('203.0.113.1:'))).to.deep.equal([
          '-A -t 203.0.113.1:80 -s rr',
        ]);
        expect(ipvsLines()).to.include('-a -t 172.20.1.3:80 -r 10.180.1.7:8080 -m -w 1');
        kernel.missing.clear();
        expect((await normal()).errors).to.deep.equal([]);
        expect(ipvsLines()).to.include('-a -t 203.0.113.1:80 -r 10.180.1.7:8080 -m -w 1');
        expect(kernel.ipsets.save()).to.include('add KUBE-EXTERNAL-NO-LOCAL 203.0.113.1,tcp:80');
      });
    });

    it('reads the kernel anew when asked to', async () => {
      await normal();
      proxier.requireFullPass();
      expect((await normal()).kind).to.equal('full');
      expect((await normal()).kind).to.equal('normal');
    });

    it('keeps the change that a failed pass took', async () => {
      await normal();
      proxier.record.service(cart, { ...cart, externalIPs: [ip('203.0.113.1')] });
      kernel.missing.add('ipset');
      await normal();
      kernel.missing.clear();
      await normal();
      expect(ipvsLines()).to.include('-A -t 203.0.113.1:80 -s rr');
    });
  });
});

function leftOut({ refusals }: PassReport): readonly string[] {
  return refusals.map(({ refused }) => describeRefused(refused));
}

/** The kernel's own answers, but for one tool that refuses whatever it is given to read. */
function refusing(kernel: MemoryKernel, tool: string, stderr: string): MemoryKernel['runTool'] {
  const run = kernel.runTool;
  return async (call) => {
    if (call.tool !== tool || call.input === undefined) return run(call);
    return { ok: false, error: { kind: 'tool-refused', tool: call.tool, exitCode: 255, stderr, script: call.input } };
  };
}
