import { expect } from 'chai';
import type { StatusAnswer } from '../../src/observe/status.ts';
import type { Daemon } from './daemon.ts';
import { readNodeState } from './kernel-state.ts';
import type { RunResult } from './lab.ts';
import { NODE, useLoneNode } from './lone-node.ts';
import { slice } from './objects.ts';
import { clusterAddress, type Offer, SERVICE_PORT, sketchOf } from './offers.ts';
import { PROGRAM } from './proxier-daemon.ts';
import { POD_PORT } from './standard-plan.ts';
import { waitFor } from './wait-for.ts';

const WEB: Offer = { name: 'web', number: 111, type: 'ClusterIP', pods: ['b1', 'b2'] };
const ODD: Offer = { name: 'odd', number: 112, type: 'ClusterIP', pods: [] };

/** The limit of connection tracking can be set in the first network namespace only. */
const SETTINGS = ['--conntrack-max-per-core', '0'];

/** Things that are wrong, put there by hand. The interface is one end of a cable. */
const BREAK = `set -e
iptables -t nat -N KUBE-SVC-ERIFXISQEP7F7OF4
ip link add kube-ipvs0 type veth peer name other-end
for address in 192.168.0.11 192.168.0.201 10.96.0.1; do ip address add $address/32 dev kube-ipvs0; done
ip link set kube-ipvs0 up
sysctl -qw net.ipv4.vs.conn_reuse_mode=0
ip route add default via 192.168.0.1
`;
const MEND = `ip route delete default
ip link delete kube-ipvs0
iptables -t nat -X KUBE-SVC-ERIFXISQEP7F7OF4
sysctl -qw net.ipv4.vs.conn_reuse_mode=1
`;

/** Listens as another proxy would. */
const OTHER =
  'import socket, time; s = socket.create_server(("0.0.0.0", 10256)); print("listens", flush=True); time.sleep(600)';

describe('test/lab/doctor', () => {
  const lone = useLoneNode();

  /** What a user runs. */
  function program(...args: readonly string[]): Promise<RunResult> {
    return lone().lab.run(NODE, process.execPath, [PROGRAM, ...args]);
  }

  async function status(...args: readonly string[]): Promise<StatusAnswer> {
    const { stdout, stderr, exitCode } = await program('status', '-o', 'json', ...args);
    expect([stderr, exitCode]).to.deep.equal(['', 0]);
    return JSON.parse(stdout);
  }

  describe('doctor', () => {
    it('finds nothing on a fresh node, and changes nothing', async () => {
      const before = await readNodeState(lone().lab, NODE);
      const { stdout, stderr, exitCode } = await program('doctor', '--cluster-cidr', '10.180.0.0/16', ...SETTINGS);
      expect([stderr, exitCode], stdout).to.deep.equal(['', 0]);
      expect(stdout).to.match(/\ndoctor: 0 errors, 0 warnings\n$/);
      expect(await readNodeState(lone().lab, NODE)).to.deep.equal(before);
    });

    it('names everything that is wrong, with its remedy', async () => {
      const { lab } = lone();
      await lab.output(NODE, 'sh', ['-c', BREAK]);
      const other = lab.spawn(NODE, '/usr/bin/python3', ['-c', OTHER]);
      try {
        await waitFor(
          'the other one',
          async () => other.log(),
          (log) => log.includes('listens'),
        );
        const cluster = ['--cluster-cidr', '192.168.0.0/16', '--master', 'https://10.96.0.1:443'];
        const { stdout, stderr, exitCode } = await program('doctor', '-o', 'json', ...cluster, ...SETTINGS);
        expect([stderr, exitCode]).to.deep.equal(['', 3]);
        const { findings } = JSON.parse(stdout) as { findings: { level: string; id: string; remedy: string }[] };
        const wrong = findings.filter(({ level }) => level !== 'note');
        expect(wrong.map(({ id }) => id).toSorted()).to.deep.equal([
          'address-twice',
          'api-anonymous',
          'api-through-service',
          'api-unreachable',
          'arp-not-strict',
          'interface-not-dummy',
          'iptables-mode-left',
          'port-in-use',
          'ranges-overlap',
          'reuse-mode-off',
        ]);
        for (const { remedy } of wrong) expect(remedy).to.not.equal('');
      } finally {
        await other.kill();
        await lab.output(NODE, 'sh', ['-c', MEND]);
      }
    });
  });

  describe('status', () => {
    let daemon: Daemon;

    it('shows a Service, a real server that drains, and a Service in quarantine', async () => {
      const { api, lab, traffic, write, start, said } = lone();
      write(WEB, ODD);
      daemon = start();
      await said(daemon, 'node programmed');
      const held = await traffic.open({
        from: 'a2',
        protocol: 'tcp',
        address: clusterAddress(WEB, 'IPv4'),
        port: SERVICE_PORT,
      });
      const leaves = held.first.split(' ')[0] === 'b1' ? 'b1' : 'b2';
      write({ ...WEB, pods: leaves === 'b1' ? ['b2'] : ['b1'] });
      // The kernel takes no address that stands for all of a network.
      api.apply(slice(sketchOf(ODD), POD_PORT, [{ address: '192.168.0.255', nodeName: 'node-b' }]));
      await said(daemon, 'Service keeps failing and is left out of the passes of others');
      const real = `${lab.pod(leaves).addresses.IPv4}:${POD_PORT}`;
      const { services = [], quarantine, totals, draining } = await status('--service', 'shop/web');
      const server = services[0]?.virtualServers.find(
        ({ address }) => address === `TCP ${clusterAddress(WEB, 'IPv4')}:80`,
      );
      const drains = server?.realServers.find(({ address }) => address === real);
      expect(drains).to.include({ state: 'draining', weight: 0, active: 1 });
      expect(server?.realServers.filter(({ state }) => state === 'active')).to.have.length(1);
      expect([totals.services, totals.draining, draining[0]?.realServer]).to.deep.equal([2, 1, real]);
      expect(quarantine.map(({ service }) => service)).to.deep.equal(['shop/odd']);
      expect(quarantine[0]?.why).to.match(/^real server 192\.168\.0\.255:8080 of \w+ 10\.96\.0\.112:80: /);
      await held.close();
    });

    it('is short for people', async () => {
      const { stdout, exitCode } = await program('status');
      expect(exitCode).to.equal(0);
      expect(stdout).to.match(/^ipvs-proxier \S+ on node-a: up .*\nhealth: /);
      expect(stdout).to.match(
        /\nquarantine:\n {2}shop\/odd since .*, next try in |\nquarantine:\n {2}shop\/odd since .*, in a pass now/,
      );
      await daemon.stop();
    });
  });
});
