import { expect } from 'chai';
import { startNode } from './start-node.ts';

const KEEP_ALIVE = '/proc/sys/net/ipv4/tcp_keepalive_time';
const TRACKED_UDP = '/proc/sys/net/netfilter/nf_conntrack_udp_timeout';
const TRACKED_STREAM = '/proc/sys/net/netfilter/nf_conntrack_udp_timeout_stream';

describe('test/reports/idle-timeouts', () => {
  const given: readonly (readonly [fields: string, seconds: readonly number[]])[] = [
    ['tcpTimeout: 2h, tcpFinTimeout: 60s, udpTimeout: 30s', [7200, 60, 30]],
    ['tcpTimeout: 2h', [7200, 120, 300]],
    ['udpTimeout: 10m', [900, 120, 600]],
    ['tcpTimeout: 0s', [900, 120, 300]],
  ];
  for (const [fields, seconds] of given) {
    it(`R20: with ${fields} the kernel has ${seconds.join(', ')} s`, async () => {
      const { host, told } = await startNode({ configuration: `ipvs: {${fields}}\n` });
      expect(host.ipvs.timeouts).to.deep.equal(seconds);
      const [tcp, tcpFin, udp] = seconds;
      expect(told.get('seconds after which idle connections end')).to.deep.include({ ipvs: { tcp, tcpFin, udp } });
    });
  }

  it('R20: sysctls and timeouts are written again when the module was loaded anew', async () => {
    const { host, sysctls, keepSettings } = await startNode({ configuration: 'ipvs: {tcpTimeout: 2h}\n' });
    const before = sysctls();
    host.ipvs.timeouts = [900, 120, 300];
    for (const name of ['conntrack', 'expire_nodest_conn', 'expire_quiescent_template']) {
      host.files.set(`/proc/sys/net/ipv4/vs/${name}`, '0\n');
    }
    await keepSettings();
    expect(host.ipvs.timeouts).to.deep.equal([7200, 120, 300]);
    expect(sysctls()).to.deep.equal(before);
  });

  for (const [fields, warns] of [
    ['', true],
    ['tcpTimeout: 7199s', true],
    ['tcpTimeout: 2h', false],
  ] as const) {
    it(`R20: ${warns ? 'warns' : 'does not warn'} of keep-alive after 7200 s with ${fields || 'timeouts as they are'}`, async () => {
      const { warnings } = await startNode({
        configuration: `ipvs: {${fields}}\n`,
        files: { [KEEP_ALIVE]: '7200' },
      });
      expect(warnings.some((line) => line.includes('are kept alive after 7200 s'))).to.equal(warns);
    });
  }

  it('R21: a UDP timeout of 300 s beside shorter ones of connection tracking is told with a warning for each of these', async () => {
    const files = { [TRACKED_UDP]: '30', [TRACKED_STREAM]: '120' };
    const { warnings, told } = await startNode({ configuration: 'ipvs: {udpTimeout: 300s}\n', files });
    expect(warnings).to.deep.equal([
      'UDP flows without a reply end after 30 s, by nf_conntrack_udp_timeout, which is shorter than the 300 s of ipvs.udpTimeout',
      'UDP flows end after 120 s, by nf_conntrack_udp_timeout_stream, which is shorter than the 300 s of ipvs.udpTimeout',
    ]);
    expect(told.get('seconds after which idle connections end')).to.deep.include({
      ipvs: { tcp: 900, tcpFin: 120, udp: 300 },
      trackedUdp: 30,
      trackedUdpStream: 120,
    });
  });

  it('R21: a UDP timeout that is set in both places gives no warning', async () => {
    const configuration = 'ipvs: {udpTimeout: 300s}\nconntrack: {udpTimeout: 300s, udpStreamTimeout: 300s}\n';
    const { warnings } = await startNode({ configuration, files: { [TRACKED_UDP]: '30', [TRACKED_STREAM]: '120' } });
    expect(warnings).to.deep.equal([]);
  });
});
