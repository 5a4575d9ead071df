import { expect } from 'chai';
import { service, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { proxierOn } from '../../test/builders/proxier.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import type { Proxier } from './proxier.ts';
import { Repairs } from './repairs.ts';

describe('sync/repairs', () => {
  let kernel: MemoryKernel;
  let proxier: Proxier;
  let repairs: Repairs;
  const endpoints = slice({ endpoints: [sliceEndpoint('10.180.0.1'), sliceEndpoint('10.180.0.2')] });

  beforeEach(async () => {
    kernel = memoryKernel({ eth0: ['192.168.0.10/24'] });
    proxier = proxierOn(kernel);
    repairs = new Repairs();
    proxier.record.service(undefined, service());
    proxier.record.slice(undefined, endpoints);
    await pass('start');
  });

  async function pass(...reasons: string[]): Promise<void> {
    repairs.ran(await proxier.pass('full', reasons));
  }

  const NONE = { ipvs: 0, ipset: 0, address: 0, iptables: 0, ip6tables: 0 };

  it('counts by tool what a periodic pass puts right', async () => {
    kernel.ipvs.restore('-D -t 172.20.1.1:80\n');
    kernel.addresses.batch('address delete 172.20.1.1/32 dev kube-ipvs0\n');
    await pass('periodic');
    expect(repairs.read()).to.deep.equal({ ...NONE, ipvs: 3, address: 1 });
    await pass('periodic');
    expect(repairs.read()).to.deep.equal({ ...NONE, ipvs: 3, address: 1 });
  });

  it('counts nothing of first passes, passes with other reasons, and passes with changes', async () => {
    expect(repairs.read()).to.deep.equal(NONE);
    kernel.ipvs.restore('-D -t 172.20.1.1:80\n');
    await pass('periodic', 'node');
    proxier.record.slice(endpoints, slice({ endpoints: [sliceEndpoint('10.180.0.1')] }));
    await pass('periodic');
    expect(repairs.read()).to.deep.equal(NONE);
  });

  it('counts nothing of an address whose time after its Service is over', async () => {
    let nowMs = 0;
    const draining = { limitMs: 0, ofDeletedServices: false, closingMs: 1000 };
    proxier = proxierOn(kernel, { nowMs: () => nowMs, draining });
    await pass('start');
    expect(kernel.addresses.addresses('kube-ipvs0')).to.deep.equal(['172.20.1.1']);
    nowMs = 1000;
    await pass('periodic');
    expect(kernel.addresses.addresses('kube-ipvs0')).to.deep.equal([]);
    expect(repairs.read()).to.deep.equal(NONE);
  });

  it('counts nothing after a pass that failed: its work may be left over', async () => {
    kernel.missing.add('ipset');
    await pass('periodic');
    kernel.missing.clear();
    kernel.ipvs.restore('-D -t 172.20.1.1:80\n');
    await pass('periodic');
    expect(repairs.read()).to.deep.equal(NONE);
  });
});
