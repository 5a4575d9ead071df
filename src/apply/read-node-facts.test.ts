import { expect } from 'chai';
import { fail, succeed } from '../model/result.ts';
import { type MachineSketch, machine } from './files-fixture.ts';
import { readNodeFacts } from './read-node-facts.ts';

describe('apply/read-node-facts', () => {
  const LISTING = `IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port Forward Weight ActiveConn InActConn
TCP  0A600047:0050 rr
  -> 0AB4010B:1F90      Masq    1      2          3
`;
  const ADDRESSES = JSON.stringify([{ ifname: 'eth0', flags: ['UP'], addr_info: [] }]);
  const ASK = 'ip -json -details address show';
  const question = {
    kernelRelease: '6.1.0',
    scheduler: 'rr',
    settings: ['net/a', 'net/b', 'net/c'],
    settingsOf: (uplink: string) => [`of/${uplink}`],
  };
  const look = (sketch: MachineSketch) => readNodeFacts(machine(sketch), question);

  it('loads nothing on a machine that has nothing of it', async () => {
    const host = machine({ files: { '/proc/kallsyms': '' } });
    const facts = await readNodeFacts(host, question);
    expect(host.started.filter((line) => /^(?:ipvsadm|modprobe|nft|ipset (?!help))|-save/.test(line))).to.deep.equal(
      [],
    );
    expect([facts.ipvs, facts.nftTables]).to.deep.equal([succeed(undefined), succeed('')]);
    expect([facts.links.ok, facts.uplinks.ok, facts.listening.ok, facts.ipvsModule.ok]).to.deep.equal([
      false,
      false,
      false,
      true,
    ]);
  });

  it('reads virtual servers and counts connections from a file', async () => {
    const { ipvs } = await look({
      files: { '/proc/net/ip_vs': LISTING, '/sys/module/ip_vs/parameters/conn_tab_bits': '12\n' },
    });
    const read = ipvs.ok ? ipvs.value : undefined;
    expect([read?.servers.size, read?.connections, read?.tableBits]).to.deep.equal([1, 5, succeed(12)]);
  });

  it('tells of IPVS that it cannot read or understand', async () => {
    expect((await look({ refused: { '/proc/net/ip_vs': 'EACCES' } })).ipvs).to.deep.equal(
      fail('/proc/net/ip_vs: EACCES'),
    );
    const odd = await look({ files: { '/proc/net/ip_vs': 'odd' } });
    expect(odd.ipvs).to.deep.equal(fail('/proc/net/ip_vs has another form than is known'));
  });

  it('reads interfaces, and settings of those that lead out', async () => {
    const facts = await look({
      files: { '/proc/sys/net/a': '4096\t131072\n', '/proc/sys/of/eth0': '1\n' },
      refused: { '/proc/sys/net/c': 'EACCES' },
      tools: { [ASK]: ADDRESSES, 'ip -4 -json route show default': '[{"dev":"eth0"}]' },
    });
    expect(facts.links).to.deep.equal(succeed([{ name: 'eth0', kind: 'none', flags: ['UP'], addresses: [] }]));
    expect(facts.uplinks).to.deep.equal(succeed(new Set(['eth0'])));
    expect([...facts.sysctls]).to.deep.equal([
      ['net/a', '4096 131072'],
      ['net/b', undefined],
      ['of/eth0', '1'],
    ]);
  });

  it('asks tools for their versions; ipvsadm only where IPVS is in use', async () => {
    const tools = { 'ipvsadm --version': 'ipvsadm v1.31\nmore', 'ipset help': 'ipset v7.17\n\nUsage' };
    const used = await look({ tools, files: { '/proc/net/ip_vs': LISTING } });
    expect(used.tools.get('ipvsadm')).to.deep.equal({ kind: 'version', text: 'ipvsadm v1.31' });
    expect(used.tools.get('ipset')).to.deep.equal({ kind: 'version', text: 'ipset v7.17' });
    expect(used.tools.get('conntrack')).to.deep.equal({ kind: 'missing', package: 'conntrack' });
    const folder = process.env.PATH?.split(':').find(Boolean) ?? '';
    const unused = await look({ tools, files: { [`${folder}/ipvsadm`]: '' } });
    expect(unused.tools.get('ipvsadm')?.kind).to.equal('failed');
    expect((await look({})).tools.get('ipvsadm')?.kind).to.equal('missing');
  });

  it('lists tables of nft where the kernel has them in use', async () => {
    const refused = { '/sys/module/nf_tables': 'EISDIR' };
    const listed = await look({ refused, tools: { 'nft list tables': 'table ip kube-proxy\n' } });
    expect(listed.nftTables).to.deep.equal(succeed('table ip kube-proxy\n'));
    expect((await look({ refused })).nftTables.ok).to.equal(false);
  });
});
