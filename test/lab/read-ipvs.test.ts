import { expect } from 'chai';
import { execa } from 'execa';
import { readIpvs, rereadIpvs } from '../../src/apply/read-ipvs.ts';
import { requireLab } from './in-lab.ts';
import { netnsHost } from './netns-host.ts';

const NAMESPACES = ['ipvs-a', 'ipvs-b'];

describe('test/lab/read-ipvs', () => {
  before('two nodes with the same virtual servers, more than a page of them', async () => {
    requireLab();
    for (const [index, namespace] of NAMESPACES.entries()) {
      await execa('ip', ['netns', 'add', namespace]);
      await execa('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
      const enter = `--net=/run/netns/${namespace}`;
      await execa('nsenter', [enter, 'ipvsadm', '-R'], { input: script(index + 1) });
    }
  });

  after(async () => {
    for (const namespace of NAMESPACES) await execa('ip', ['netns', 'delete', namespace]);
  });

  for (const namespace of NAMESPACES) {
    it(`sees every virtual server of ${namespace}, though the kernel's file may lack some`, async () => {
      const host = netnsHost(namespace);
      const first = await readIpvs(host);
      if (!first.ok) throw new Error(JSON.stringify(first.error));
      expect(first.value.state.size).to.equal(12);
      const again = await rereadIpvs(host, first.value);
      expect(again.ok && [...again.value.state.keys()].sort()).to.deep.equal([...first.value.state.keys()].sort());
    });
  }
});

/** Six frontends over TCP and UDP with four real servers each, some of them the same on every node. */
function script(node: number): string {
  const ipv4 = ['10.96.0.10:80', `192.168.0.1${node}:30080`, `10.180.${node}.1:30080`];
  const ipv6 = ['[fd00:96::10]:80', `[fd00:168::1${node}]:30080`, `[fd00:180:1::${node}]:30080`];
  const lines = (frontend: string, real: (n: number) => string) =>
    ['-t', '-u'].flatMap((flag) => [
      `-A ${flag} ${frontend} -s rr`,
      ...[1, 2, 3, 4].map((n) => `-a ${flag} ${frontend} -r ${real(n)} -m -w 1`),
    ]);
  const all = [
    ...ipv4.flatMap((frontend) => lines(frontend, (n) => `10.180.${n}.11:8080`)),
    ...ipv6.flatMap((frontend) => lines(frontend, (n) => `[fd00:180:${n}::11]:8080`)),
  ];
  return `${all.join('\n')}\n`;
}
