import { expect } from 'chai';
import { renderSysctls } from './render.ts';
import { wantedSysctls } from './wanted.ts';

describe('kernel/sysctl/wanted', () => {
  it('is what IPVS with masquerading and changing endpoints needs', () => {
    expect(renderSysctls(wantedSysctls('6.1.0', false))).to.equal(
      `net.ipv4.vs.conntrack=1
net.ipv4.vs.expire_nodest_conn=1
net.ipv4.vs.expire_quiescent_template=1
net.ipv4.ip_forward=1
`,
    );
  });

  it('also keeps the node silent about addresses of the dummy interface when ARP is strict', () => {
    expect(renderSysctls(wantedSysctls('5.4.0', true))).to.equal(
      `net.ipv4.vs.conntrack=1
net.ipv4.vs.conn_reuse_mode=0
net.ipv4.vs.expire_nodest_conn=1
net.ipv4.vs.expire_quiescent_template=1
net.ipv4.ip_forward=1
net.ipv4.conf.all.arp_ignore=1
net.ipv4.conf.all.arp_announce=2
`,
    );
  });

  it('can do without nothing but the mode for reused ports and what is asked for beyond kube-proxy', () => {
    const sloppy = { sloppyTCP: true, sloppySCTP: true };
    const optional = wantedSysctls('5.4.0', true, sloppy).filter(({ need }) => need === 'optional');
    expect(optional.map(({ path }) => path)).to.deep.equal([
      'net/ipv4/vs/conn_reuse_mode',
      'net/ipv4/vs/sloppy_tcp',
      'net/ipv4/vs/sloppy_sctp',
    ]);
  });

  const switches: readonly (readonly [
    tcp: boolean | undefined,
    sctp: boolean | undefined,
    lines: readonly string[],
  ])[] = [
    [undefined, undefined, []],
    [true, undefined, ['net.ipv4.vs.sloppy_tcp=1']],
    [undefined, true, ['net.ipv4.vs.sloppy_sctp=1']],
    [false, true, ['net.ipv4.vs.sloppy_tcp=0', 'net.ipv4.vs.sloppy_sctp=1']],
    [true, false, ['net.ipv4.vs.sloppy_tcp=1', 'net.ipv4.vs.sloppy_sctp=0']],
  ];
  for (const [sloppyTCP, sloppySCTP, lines] of switches) {
    it(`R124: writes ${lines.length > 0 ? lines.join(' and ') : 'neither switch'} for TCP ${sloppyTCP}, SCTP ${sloppySCTP}`, () => {
      const settings = wantedSysctls('6.1.0', false, { sloppyTCP, sloppySCTP });
      const sloppy = settings.filter(({ path }) => path.includes('/sloppy_'));
      expect(renderSysctls(sloppy)).to.equal(lines.map((line) => `${line}\n`).join(''));
    });
  }

  const releases: readonly (readonly [string, boolean])[] = [
    ['3.10.0-1160.el7.x86_64', false],
    ['4.0.9', false],
    ['4.1.0', true],
    ['4.19.0-26-amd64', true],
    ['5.0.0', true],
    ['5.8.18-generic', true],
    ['5.9.0', false],
    ['5.10.0-28-amd64', false],
    ['5.15.0', false],
    ['6.1', false],
    ['10.2.0', false],
    ['not a release', false],
  ];
  for (const [release, off] of releases) {
    it(`${off ? 'turns the mode for reused ports off' : 'leaves the mode for reused ports'} on ${release}`, () => {
      const found = wantedSysctls(release, false).find(({ path }) => path.endsWith('conn_reuse_mode'));
      expect(found?.value).to.equal(off ? '0' : undefined);
    });
  }
});
