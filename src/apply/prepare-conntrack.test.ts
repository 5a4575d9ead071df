import { expect } from 'chai';
import { conntrackLimits } from '../../test/builders/conntrack-limits.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import type { ConntrackLimits } from '../kernel/sysctl/conntrack.ts';
import { countCpus, prepareConntrack } from './prepare-conntrack.ts';

const ONLINE = '/sys/devices/system/cpu/online';
const HASH_SIZE = '/sys/module/nf_conntrack/parameters/hashsize';
const MAX = '/proc/sys/net/netfilter/nf_conntrack_max';
const NOTHING: ConntrackLimits = conntrackLimits({ min: 131_072 });
const LIMITED: ConntrackLimits = { ...NOTHING, maxPerCore: 32_768 };

describe('apply/prepare-conntrack', () => {
  let host: MemoryKernel;

  beforeEach(() => {
    host = memoryKernel({});
    host.files.set(ONLINE, '0-7\n');
    host.files.set(HASH_SIZE, '65536\n');
    host.files.set(MAX, '65536\n');
  });

  function refuse(...files: readonly string[]): void {
    const { writeText } = host;
    host.writeText = async (path, text) =>
      files.includes(path)
        ? { ok: false, error: { kind: 'file-failed', path, code: 'EACCES' } }
        : writeText(path, text);
  }

  it('raises the limit by the number of CPUs, and leaves buckets that are enough', async () => {
    expect(await prepareConntrack(host, LIMITED)).to.deep.equal({
      ok: true,
      value: { written: [{ path: 'net/netfilter/nf_conntrack_max', value: '262144' }], warnings: [] },
    });
    expect([host.files.get(MAX), host.files.get(HASH_SIZE)]).to.deep.equal(['262144', '65536\n']);
  });

  it('adds buckets where there are fewer than a fourth of the limit', async () => {
    host.files.set(HASH_SIZE, '65535\n');
    const done = await prepareConntrack(host, LIMITED);
    expect(done.ok && done.value.written.at(-1)).to.deep.equal({ path: HASH_SIZE, value: '65536' });
    expect(host.files.get(HASH_SIZE)).to.equal('65536');
  });

  it('lowers a limit that is higher than asked for, but takes no buckets away', async () => {
    host.files.set(MAX, '1000000\n');
    host.files.set(HASH_SIZE, '250000\n');
    await prepareConntrack(host, LIMITED);
    expect([host.files.get(MAX), host.files.get(HASH_SIZE)]).to.deep.equal(['262144', '250000\n']);
  });

  it('writes nothing where everything is as wanted, and so needs no right to', async () => {
    host.files.set(MAX, '262144\n');
    refuse(MAX, HASH_SIZE);
    expect(await prepareConntrack(host, LIMITED)).to.deep.equal({ ok: true, value: { written: [], warnings: [] } });
  });

  it('asks for nothing but the number of CPUs where nothing is wanted', async () => {
    host.files.delete(HASH_SIZE);
    host.files.delete(MAX);
    expect(await prepareConntrack(host, NOTHING)).to.deep.equal({ ok: true, value: { written: [], warnings: [] } });
  });

  it('gives up where limits cannot be written, as where /proc/sys is read-only, and names all of them and the way out', async () => {
    const closeWait = '/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_close_wait';
    refuse(MAX, closeWait);
    const done = await prepareConntrack(host, { ...LIMITED, tcpCloseWaitTimeoutMs: 3_600_000 });
    const leave = 'what is 0 in section conntrack of the configuration is left as it is';
    expect(done).to.deep.equal({
      ok: false,
      error: [
        `${MAX} could not be set to 262144: EACCES; ${leave}`,
        `${closeWait} could not be set to 3600: EACCES; ${leave}`,
      ],
    });
  });

  for (const [name, buckets, message] of [
    ['written', '1\n', 'could not be set to 65536: EACCES'],
    ['read', undefined, 'ENOENT'],
  ] as const) {
    it(`goes on with a warning where the number of buckets cannot be ${name}`, async () => {
      if (buckets === undefined) host.files.delete(HASH_SIZE);
      else host.files.set(HASH_SIZE, buckets);
      refuse(HASH_SIZE);
      const done = await prepareConntrack(host, LIMITED);
      expect(done.ok && done.value.warnings.join()).to.include(message);
      expect(done.ok && done.value.warnings.join()).to.include('connection tracking is slower under load');
    });
  }

  for (const [text, count] of [
    ['0\n', 1],
    ['0-7\n', 8],
    ['0-3,8,10-11\n', 7],
    ['', 1],
    ['nonsense', 1],
  ] as const) {
    it(`counts ${count} CPUs in ${JSON.stringify(text)}`, async () => {
      host.files.set(ONLINE, text);
      expect(await countCpus(host)).to.equal(count);
    });
  }

  it('counts at least one CPU where the kernel does not tell', async () => {
    host.files.delete(ONLINE);
    expect(await countCpus(host)).to.be.at.least(1);
  });
});
