import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import type { Daemon } from './daemon.ts';
import { readBoundAddresses, readSets, readVirtualServers } from './kernel-state.ts';
import { node, type ServiceSketch, service, slice } from './objects.ts';
import { startProxier } from './proxier-daemon.ts';
import { useLab } from './shared-lab.ts';
import { POD_PORT } from './standard-plan.ts';
import type { LabHost } from './topology.ts';
import { countByPeer, countByServer, type Target } from './traffic.ts';
import { waitFor } from './wait-for.ts';

const WEB: ServiceSketch = {
  name: 'web',
  type: 'NodePort',
  clusterIPs: ['10.96.0.10', 'fd00:96::10'],
  ports: [
    { name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 },
    { name: 'udp', protocol: 'UDP', port: 80, nodePort: 30081 },
  ],
};
const FLAGS = ['--cluster-cidr', '10.180.0.0/16,fd00:180::/32', '--ipvs-min-sync-period', '100ms'];

describe('test/lab/run', () => {
  const shared = useLab();
  let api: ApiServer;
  let daemons: readonly Daemon[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-run-'));

  before('an API server and a daemon on each node', async () => {
    const { lab } = shared();
    api = await startApiServer({ addresses: ['192.168.0.1'], certificateAddresses: ['192.168.0.1'] });
    for (const { name, addresses, zone } of lab.nodes) {
      api.apply(node(name, [addresses.IPv4, addresses.IPv6], zone));
    }
    api.apply(service(WEB));
    serve('a1', 'b1');
    daemons = lab.nodes.map(({ name }) => startProxier(lab, name, api.kubeconfig(), folder, FLAGS));
    for (const { name } of lab.nodes) await bound(name, (addresses) => addresses.length === 2);
  });

  after('the daemons and the API server', async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await api.stop();
  });

  /** Makes these pods, and no others, the endpoints of the Service. */
  function serve(...names: readonly string[]): void {
    const pods = names.map((name) => shared().lab.pod(name));
    for (const family of ['IPv4', 'IPv6'] as const) {
      const endpoints = pods.map((pod) => ({ address: pod.addresses[family], nodeName: pod.node ?? '' }));
      api.apply(slice(WEB, POD_PORT, endpoints, family));
    }
  }

  function virtualServers(name: string, done: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    return waitFor(`virtual servers of ${name}`, () => readVirtualServers(shared().lab, name), done, {
      timeoutMs: 240_000,
    });
  }

  function bound(name: string, done: (addresses: readonly string[]) => boolean): Promise<readonly string[]> {
    const read = async () => (await readBoundAddresses(shared().lab, name)) ?? [];
    return waitFor(`bound addresses of ${name}`, read, done, { timeoutMs: 240_000 });
  }

  async function ask(target: Omit<Target, 'from'> & { readonly from: LabHost; readonly times: number }) {
    const replies = await shared().traffic.ask({ ...target, from: target.from.namespace });
    expect([...replies.troubles], `troubles of ${target.from.name} → ${target.address}`).to.deep.equal([]);
    return replies;
  }

  it('programs both nodes from one API server', async () => {
    for (const { name, addresses } of shared().lab.nodes) {
      const lines = await virtualServers(name, () => true);
      expect(lines).to.include(`-A -t ${addresses.IPv4}:30080 -s rr`);
      expect(lines).to.include('-a -u [fd00:96::10]:80 -r [fd00:180:1::11]:8080 -m -w 1');
      expect(await bound(name, () => true)).to.deep.equal(['10.96.0.10/32', 'fd00:96::10/128']);
    }
  });

  for (const family of ['IPv4', 'IPv6'] as const) {
    const vip = WEB.clusterIPs?.[family === 'IPv4' ? 0 : 1] ?? '';

    for (const protocol of ['http', 'udp'] as const) {
      it(`answers a pod over ${protocol} at the ${family} cluster address, with the pod's own address as source`, async () => {
        const client = shared().lab.pod('a2');
        const answers = await ask({ from: client, protocol, address: vip, port: 80, times: 10 });
        expect([...countByServer(answers)].sort()).to.deep.equal([
          ['a1', 5],
          ['b1', 5],
        ]);
        expect([...countByPeer(answers)]).to.deep.equal([[client.addresses[family], 10]]);
      });

      it(`answers a process of the node over ${protocol} at the ${family} cluster address, masqueraded`, async () => {
        const host = shared().lab.node('node-a');
        const answers = await ask({ from: host, protocol, address: vip, port: 80, times: 10 });
        expect([...countByServer(answers).keys()].sort()).to.deep.equal(['a1', 'b1']);
        expect([...countByPeer(answers).keys()]).to.not.include(vip);
      });

      it(`answers a client outside over ${protocol} at the ${family} node port of each node, masqueraded`, async () => {
        for (const host of shared().lab.nodes) {
          const port = protocol === 'http' ? 30080 : 30081;
          const answers = await ask({
            from: shared().lab.client(),
            protocol,
            address: host.addresses[family],
            port,
            times: 10,
          });
          expect([...countByServer(answers).keys()].sort()).to.deep.equal(['a1', 'b1']);
          expect([...countByPeer(answers).keys()]).to.not.include(shared().lab.client().addresses[family]);
        }
      });
    }

    it(`lets a pod reach itself at the ${family} cluster address`, async () => {
      const answers = await ask({ from: shared().lab.pod('a1'), protocol: 'http', address: vip, port: 80, times: 4 });
      expect([...countByServer(answers)].sort()).to.deep.equal([
        ['a1', 2],
        ['b1', 2],
      ]);
    });
  }

  it('refuses other ports of a cluster address, and a Service without endpoints, at once', async () => {
    const empty: ServiceSketch = {
      name: 'empty',
      clusterIPs: ['10.96.0.18'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
    };
    api.apply(service(empty));
    await virtualServers('node-a', (lines) => lines.includes('-A -t 10.96.0.18:80 -s rr'));
    await bound('node-a', (addresses) => addresses.includes('10.96.0.18/32'));
    for (const [address, port] of [
      ['10.96.0.18', 80],
      ['10.96.0.10', 81],
    ] as const) {
      const { answers, troubles } = await shared().traffic.ask({
        from: 'a2',
        protocol: 'tcp',
        address,
        port,
        times: 2,
      });
      expect([...answers, ...troubles], `${address}:${port}`).to.deep.equal([['refused', 2]]);
    }
    api.delete({ kind: 'Service', namespace: 'shop', name: 'empty' });
    await virtualServers('node-a', (lines) => !lines.includes('-A -t 10.96.0.18:80 -s rr'));
  });

  it('does without an endpoint that the kernel refuses, says so, and serves everything else', async () => {
    const odd: ServiceSketch = {
      name: 'odd',
      clusterIPs: ['10.96.0.19'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
    };
    const broadcast = { address: '192.168.0.255', nodeName: 'node-a' };
    const pod = shared().lab.pod('b2');
    api.apply(service(odd));
    api.apply(slice(odd, POD_PORT, [broadcast, { address: pod.addresses.IPv4, nodeName: 'node-b' }]));
    const good = `-a -t 10.96.0.19:80 -r ${pod.addresses.IPv4}:8080 -m -w 1`;
    await virtualServers('node-a', (lines) => lines.includes(good));
    await bound('node-a', (addresses) => addresses.includes('10.96.0.19/32'));
    const answers = await ask({
      from: shared().lab.pod('a2'),
      protocol: 'http',
      address: '10.96.0.19',
      port: 80,
      times: 4,
    });
    expect([...countByServer(answers)]).to.deep.equal([['b2', 4]]);
    const said = (log: string) => log.includes('left out: real server 192.168.0.255:8080 of TCP 10.96.0.19:80');
    await waitFor('the refusal in the log', () => daemons[0]?.log() ?? '', said);
    api.delete({ kind: 'Service', namespace: 'shop', name: 'odd' });
    await bound('node-a', (addresses) => !addresses.includes('10.96.0.19/32'));
  });

  it('keeps an open connection when its endpoint leaves and comes back, and sends new ones elsewhere meanwhile', async () => {
    const { lab, traffic } = shared();
    serve('b1');
    const takesNew = (lines: readonly string[]) =>
      lines.filter((line) => /^-a -t 10\.96\.0\.10:80 .* -w 1$/.test(line));
    await virtualServers(
      'node-a',
      (lines) => takesNew(lines).join() === '-a -t 10.96.0.10:80 -r 10.180.2.11:8080 -m -w 1',
    );
    const held = await traffic.open({ from: 'a2', protocol: 'tcp', address: '10.96.0.10', port: 80 });
    expect(held.first).to.match(/^b1 /);
    serve('a1');
    await virtualServers('node-a', (lines) => lines.includes('-a -t 10.96.0.10:80 -r 10.180.2.11:8080 -m -w 0'));
    expect(await held.again()).to.equal(held.first);
    const answers = await ask({ from: lab.pod('a2'), protocol: 'http', address: '10.96.0.10', port: 80, times: 6 });
    expect([...countByServer(answers)]).to.deep.equal([['a1', 6]]);
    serve('a1', 'b1');
    const returned = ['10.96.0.10', '[fd00:96::10]'].map((vip, index) => {
      return `-a -t ${vip}:80 -r ${['10.180.2.11', '[fd00:180:2::11]'][index]}:8080 -m -w 1`;
    });
    await virtualServers('node-a', (lines) => returned.every((line) => lines.includes(line)));
    expect(await held.again()).to.equal(held.first);
    await held.close();
  });

  it('adopts what it finds after it was killed: no virtual server is touched and connections go on', async () => {
    const { lab, traffic } = shared();
    const held = await traffic.open({ from: 'a2', protocol: 'tcp', address: '10.96.0.10', port: 80 });
    const before = await readVirtualServers(lab, 'node-a');
    await daemons[0]?.kill();
    const revived = startProxier(lab, 'node-a', api.kubeconfig(), join(folder), [...FLAGS, '--v', '2']);
    daemons = [revived, ...daemons.slice(1)];
    await waitFor(
      'the first pass',
      async () => revived.log(),
      (log) => log.includes('nothing to do'),
      { timeoutMs: 240_000 },
    );
    expect(revived.log()).to.not.include('node programmed');
    expect(await readVirtualServers(lab, 'node-a')).to.deep.equal(before);
    expect(await held.again()).to.equal(held.first);
    await held.close();
  });

  it('goes on serving while the API server is away, and catches up when it is back', async () => {
    await api.stopAccepting();
    const answers = await ask({
      from: shared().lab.pod('a2'),
      protocol: 'http',
      address: '10.96.0.10',
      port: 80,
      times: 4,
    });
    expect([...countByServer(answers).keys()].sort()).to.deep.equal(['a1', 'b1']);
    serve('a1', 'a2', 'b1', 'b2');
    await api.startAccepting();
    await virtualServers('node-b', (lines) => lines.includes('-a -t 10.96.0.10:80 -r 10.180.2.12:8080 -m -w 1'));
  });

  it('takes away all of a deleted Service', async () => {
    api.delete({ kind: 'Service', namespace: 'shop', name: 'web' });
    for (const { name } of shared().lab.nodes) {
      await virtualServers(name, (lines) => lines.length === 0);
      const filled = async () => [...(await readSets(shared().lab, name))].filter(([, entries]) => entries.length > 0);
      await waitFor(`empty sets of ${name}`, filled, (sets) => sets.length === 0, { timeoutMs: 240_000 });
      expect(await bound(name, () => true)).to.deep.equal([]);
    }
  });

  it('ends on SIGTERM with status 0 and leaves what is programmed in place', async () => {
    api.apply(service(WEB));
    await virtualServers('node-b', (lines) => lines.length > 8);
    expect(await daemons[1]?.stop()).to.deep.equal({ exitCode: 0 });
    expect((await readVirtualServers(shared().lab, 'node-b')).length).to.be.greaterThan(8);
  });
});
