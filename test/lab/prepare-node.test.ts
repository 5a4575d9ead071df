import { expect } from 'chai';
import { execa } from 'execa';
import type { Host } from '../../src/apply/host.ts';
import { examineNode, prepareNode } from '../../src/apply/prepare-node.ts';
import { DEFAULTS } from '../../src/config/config-fixture.ts';
import { succeed } from '../../src/model/result.ts';
import { requireLab } from './in-lab.ts';
import { netnsHost } from './netns-host.ts';

const NAMESPACE = 'prepare';

describe('test/lab/prepare-node', () => {
  let host: Host;

  before('a node of its own', async () => {
    requireLab();
    await execa('ip', ['netns', 'add', NAMESPACE]);
    host = {
      ...netnsHost(NAMESPACE),
      writeText: async (path, text) => {
        await execa('nsenter', [`--net=/run/netns/${NAMESPACE}`, 'tee', path], { input: text });
        return succeed(undefined);
      },
    };
  });

  after(() => execa('ip', ['netns', 'delete', NAMESPACE]));

  const sloppyOf = async () => {
    const files = ['sloppy_tcp', 'sloppy_sctp'].map((name) => `/proc/sys/net/ipv4/vs/${name}`);
    const read = await Promise.all(files.map((file) => host.readText(file)));
    return read.map((text) => text.ok && text.value.trim());
  };

  async function prepare(sloppyTCP: boolean | undefined, sloppySCTP: boolean | undefined) {
    const timeouts = { tcpTimeoutMs: 0, tcpFinTimeoutMs: 0, udpTimeoutMs: 0 };
    const choices = { sloppyTCP, sloppySCTP };
    const conntrack = { ...DEFAULTS.conntrack, maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 };
    const prepared = await prepareNode(host, '6.1.0', { strictArp: false, timeouts, choices, conntrack });
    if (!prepared.ok) throw new Error(prepared.error.join('\n'));
    expect(prepared.value.warnings).to.deep.equal([]);
    return prepared.value.written.map(({ path, value }) => `${path} = ${value}`);
  }

  it('is content with the tools of the lab', async () => {
    expect(await examineNode(host)).to.deep.include({ ok: true });
  });

  it('R124: switches sloppy TCP and SCTP on and off, and leaves them alone when nothing is said', async () => {
    await prepare(undefined, undefined);
    expect(await sloppyOf()).to.deep.equal(['0', '0']);
    expect(await prepare(undefined, true)).to.deep.equal(['net/ipv4/vs/sloppy_sctp = 1']);
    expect(await sloppyOf()).to.deep.equal(['0', '1']);
    expect(await prepare(true, undefined)).to.deep.equal(['net/ipv4/vs/sloppy_tcp = 1']);
    expect(await sloppyOf()).to.deep.equal(['1', '1']);
    expect(await prepare(undefined, undefined)).to.deep.equal([]);
    expect(await sloppyOf()).to.deep.equal(['1', '1']);
    expect(await prepare(false, false)).to.have.lengthOf(2);
    expect(await sloppyOf()).to.deep.equal(['0', '0']);
  });
});
