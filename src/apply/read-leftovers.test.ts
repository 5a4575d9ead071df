import { expect } from 'chai';
import { memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { readEveryTable, readLeftovers, unreadableRules } from './read-leftovers.ts';

describe('apply/read-leftovers', () => {
  /** Sets of both families, one virtual server. */
  function node() {
    const kernel = memoryKernel({ 'kube-ipvs0': ['172.20.1.1/32'] });
    kernel.ipsets.restore(
      'create KUBE-IPVS-IPS hash:ip family inet hashsize 1024 maxelem 65536\ncreate KUBE-6-IPVS-IPS hash:ip family inet6 hashsize 1024 maxelem 65536\n',
    );
    kernel.ipvs.restore('-A -t 172.20.1.1:80 -s rr\n');
    return kernel;
  }

  it('reads every part', async () => {
    const { leftovers, troubles } = await readLeftovers(node());
    expect(troubles).to.deep.equal([]);
    expect([...leftovers.ipvs.keys()]).to.deep.equal(['TCP 172.20.1.1:80']);
    expect([...leftovers.sets.keys()]).to.deep.equal(['KUBE-IPVS-IPS', 'KUBE-6-IPVS-IPS']);
    expect([...leftovers.interfaces.keys(), leftovers.isDummy]).to.deep.equal(['kube-ipvs0', true]);
    expect(Object.keys(leftovers.tables)).to.deep.equal(['IPv4', 'IPv6']);
  });

  it('finds no virtual server in a kernel without IPVS', async () => {
    const kernel = node();
    const { readText } = kernel;
    kernel.readText = async (path) => readText(path === '/proc/net/ip_vs' ? '/none' : path);
    const { leftovers, troubles } = await readLeftovers(kernel);
    expect([leftovers.ipvs.size, troubles]).to.deep.equal([0, []]);
  });

  it('misses ipvsadm only where there are virtual servers', async () => {
    const kernel = node();
    kernel.missing.add('ipvsadm');
    expect((await readLeftovers(kernel)).troubles.join()).to.match(/^ipvsadm is not installed/);
    kernel.ipvs.restore('-D -t 172.20.1.1:80\n');
    expect((await readLeftovers(kernel)).troubles).to.deep.equal([]);
  });

  it('misses the tools of a family only where that has sets of ours', async () => {
    const kernel = node();
    kernel.missing.add('ip6tables-save');
    const { leftovers, troubles } = await readLeftovers(kernel);
    expect(troubles.join()).to.match(/^IPv6 rules stay, with their sets: ip6tables-save is not installed/);
    expect(Object.keys(leftovers.tables)).to.deep.equal(['IPv4']);
    kernel.ipsets.restore('destroy KUBE-6-IPVS-IPS\n');
    expect((await readLeftovers(kernel)).troubles).to.deep.equal([]);
  });

  it('reads the rest where one tool is missing, and tells of each once', async () => {
    const kernel = node();
    kernel.missing.add('ip').add('ipset');
    const { leftovers, troubles } = await readLeftovers(kernel);
    expect(troubles.map((trouble) => trouble.split(' ')[0])).to.deep.equal(['ipset', 'ip']);
    expect([leftovers.sets.size, leftovers.interfaces.size, leftovers.ipvs.size]).to.deep.equal([0, 0, 1]);
  });

  it('needs no tool for a family that the kernel does not have', async () => {
    const kernel = node();
    kernel.missing.add('ip6tables-save');
    const tables = await readEveryTable(kernel);
    expect(await unreadableRules(kernel, tables)).to.deep.equal([]);
    kernel.files.set('/proc/net/if_inet6', '');
    expect((await unreadableRules(kernel, tables)).join()).to.match(/^IPv6 rules stay, with their sets: /);
  });
});
