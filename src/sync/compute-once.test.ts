import { expect } from 'chai';
import { ip } from '../../test/builders/net.ts';
import { nodeView, service, settings, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { proxierOn } from '../../test/builders/proxier.ts';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { FAMILIES } from '../net/family.ts';
import { renderFullState } from '../plan/scripts.ts';
import { computeOnce } from './compute-once.ts';

describe('sync/compute-once', () => {
  const services = [service({ addresses: ['172.20.1.1', 'fd00:20::1'], externalIPs: [ip('203.0.113.1')] })];
  const slices = [
    slice({ endpoints: [sliceEndpoint('10.180.0.1', { nodeName: 'node-a' })] }),
    slice({ name: 'shop/cart-6', family: 'IPv6', endpoints: [sliceEndpoint('fd00:180::1')] }),
  ];

  it('wants what a first pass makes', async () => {
    const kernel = memoryKernel({ eth0: ['192.168.0.10/24'] });
    const proxier = proxierOn(kernel);
    for (const each of services) proxier.record.service(undefined, each);
    for (const each of slices) proxier.record.slice(undefined, each);
    await proxier.pass('full', ['start']);
    const scripts = renderFullState(computeOnce({ services, slices }, nodeView(), FAMILIES, settings()));
    expect(sorted(scripts.ipvs)).to.deep.equal(sorted(kernel.ipvs.save()));
    const fresh = memoryKernel({ eth0: ['192.168.0.10/24'] });
    fresh.ipsets.restore(scripts.ipset);
    fresh.tables.IPv4.restore(scripts.iptables);
    fresh.tables.IPv6.restore(scripts.ip6tables);
    expect(sorted(fresh.ipsets.save())).to.deep.equal(sorted(kernel.ipsets.save()));
    expect([fresh.tables.IPv4.save(), fresh.tables.IPv6.save()]).to.deep.equal([
      kernel.tables.IPv4.save(),
      kernel.tables.IPv6.save(),
    ]);
    expect(sorted(scripts.address).filter((line) => line.includes('replace'))).to.have.lengthOf(3);
  });

  it('computes only the families asked for, in their order', () => {
    const families = (list: readonly ('IPv4' | 'IPv6')[]) =>
      computeOnce({ services, slices }, nodeView(), list, settings()).map(({ kernel: { family, ipvs } }) => [
        family,
        ipvs.size,
      ]);
    expect(families(['IPv6'])).to.deep.equal([['IPv6', 1]]);
    expect(families(['IPv4', 'IPv6'])).to.deep.equal([
      ['IPv4', 2],
      ['IPv6', 1],
    ]);
  });
});

function sorted(text: string): string[] {
  return text.split('\n').filter(Boolean).sort();
}
