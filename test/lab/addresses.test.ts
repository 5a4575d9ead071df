import { expect } from 'chai';
import { useLabCluster } from './lab-cluster.ts';
import { nodePort, type Offer } from './offers.ts';
import { waitFor } from './wait-for.ts';

const WEB: Offer = { name: 'web', number: 77, type: 'NodePort', pods: ['a1'] };
const NODE = 'node-a';
/** Addresses of nobody else in the lab that come later, as one that fails over does. */
const LATER = { IPv4: '192.168.0.90', IPv6: 'fd00:168::90' } as const;

describe('test/lab/addresses', () => {
  // No periodic pass can be what helps.
  const cluster = useLabCluster(() => ['--ipvs-sync-period', '1h', '-v', '2']);

  before('a Service with a node port', () => cluster().offer(WEB));

  const change = async (verb: 'add' | 'delete', address: string) => {
    const { lab } = cluster();
    const { stdout } = await lab.run(NODE, 'ip', ['-o', 'address', 'show', 'to', lab.node(NODE).addresses.IPv4]);
    const device = stdout.split(/\s+/)[1] ?? '';
    const length = address.includes(':') ? 128 : 32;
    const isUsableAtOnce = verb === 'add' && address.includes(':') ? ['nodad'] : [];
    await lab.run(NODE, 'ip', ['address', verb, `${address}/${length}`, 'dev', device, ...isUsableAtOnce]);
  };
  /** Passes that were asked for because of addresses. */
  const caused = () => {
    const log = cluster().daemons.get(NODE)?.log() ?? '';
    return [...log.matchAll(/(?:node programmed|nothing to do).*"reasons":\[[^\]]*"addresses"/g)].length;
  };

  after('addresses of the tests', () => change('delete', LATER.IPv4));

  for (const family of ['IPv4', 'IPv6'] as const) {
    const address = LATER[family];
    const shown = family === 'IPv4' ? address : `[${address}]`;
    const line = `-A -t ${shown}:${nodePort(WEB)} -s rr`;

    it(`R104: the node port is at an ${family} address that comes later, without any change in the API, and answers there`, async () => {
      await change('add', address);
      await cluster().virtualServers(NODE, (lines) => lines.includes(line));
      const ask = { from: 'a2', protocol: 'http', address, port: nodePort(WEB), times: 2 } as const;
      const { answers, troubles } = await cluster().traffic.ask(ask);
      expect([[...troubles], [...answers.keys()].map((answer) => answer.split(' ')[0])]).to.deep.equal([[], ['a1']]);
    });

    it(`R104: the node port is gone with the ${family} address`, async () => {
      await change('delete', address);
      await cluster().virtualServers(NODE, (lines) => !lines.includes(line));
    });
  }

  it('addresses of Services, which the program binds itself, lead to no further pass', async () => {
    const other: Offer = { name: 'other', number: 78, type: 'ClusterIP', pods: ['a1'] };
    const before = await waitFor('the passes of the tests above', caused, (passes) => passes >= 4);
    await cluster().offer(other);
    await change('add', LATER.IPv4);
    await cluster().virtualServers(NODE, (lines) => lines.some((text) => text.includes(`${LATER.IPv4}:`)));
    await waitFor('the pass for the address', caused, (passes) => passes > before);
    expect(caused()).to.equal(before + 1);
  });

  it('the process that tells of addresses ends with the daemon', async () => {
    const monitors = async () => {
      const { stdout } = await cluster().lab.run(NODE, 'ps', ['-eo', 'args']);
      return stdout.split('\n').filter((text) => text.includes('monitor address')).length;
    };
    const before = await monitors();
    expect(before).to.be.at.least(1);
    await cluster().daemons.get(NODE)?.stop();
    expect(await monitors()).to.equal(before - 1);
  });
});
