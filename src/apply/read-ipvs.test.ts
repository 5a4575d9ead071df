import { expect } from 'chai';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import type { VirtualServerKey } from '../kernel/ipvs/state.ts';
import { type IpvsReading, readIpvs, rereadIpvs } from './read-ipvs.ts';

const SCRIPT = `-A -t 172.20.1.1:80 -s rr
-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1
-A -u [fd00::1]:53 -s mh -p 10800 -b mh-port
`;
const TCP = 'TCP 172.20.1.1:80' as VirtualServerKey;
const UDP = 'UDP [fd00::1]:53' as VirtualServerKey;

describe('apply/read-ipvs', () => {
  let kernel: MemoryKernel;
  let known: IpvsReading;

  beforeEach(async () => {
    kernel = memoryKernel({});
    kernel.ipvs.restore(SCRIPT);
    known = await reading(readIpvs(kernel));
    kernel.calls.length = 0;
  });

  async function reading(result: ReturnType<typeof readIpvs>): Promise<IpvsReading> {
    const done = await result;
    if (!done.ok) throw new Error(JSON.stringify(done.error));
    return done.value;
  }

  it('reads flags, persistence in seconds and connections', () => {
    expect(known.state.get(UDP)).to.include({ persistenceSeconds: 10800, scheduler: 'mh' });
    expect(known.state.get(UDP)?.schedulerFlags).to.deep.equal(['mh-port']);
    expect(known.ticksPerSecond).to.equal(250);
  });

  it('reads again without a process, and the same', async () => {
    kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 3);
    const again = await reading(rereadIpvs(kernel, known));
    expect(kernel.calls).to.deep.equal([]);
    expect([...(again.state.get(TCP)?.realServers.values() ?? [])].map(({ connections }) => connections)).to.deep.equal(
      [3],
    );
    expect(again.state.get(UDP)).to.deep.equal(known.state.get(UDP));
  });

  it('does not believe the file when it lacks a virtual server that is known', async () => {
    kernel.skippedInProc.add('-t 172.20.1.1:80');
    const again = await reading(rereadIpvs(kernel, known));
    expect(again.state.has(TCP)).to.equal(true);
    expect(kernel.calls.map(({ args }) => args)).to.deep.equal([['-Ln']]);
  });

  it('learns that a known virtual server was deleted by somebody else', async () => {
    kernel.ipvs.restore('-D -t 172.20.1.1:80\n');
    expect((await reading(rereadIpvs(kernel, known))).state.has(TCP)).to.equal(false);
  });

  it('asks for seconds when it meets persistence for the first time', async () => {
    const fresh = memoryKernel({});
    const before = await reading(readIpvs(fresh));
    fresh.ipvs.restore('-A -t 172.20.1.2:80 -s rr -p 30\n');
    const after = await reading(rereadIpvs(fresh, before));
    expect([...after.state.values()].map(({ persistenceSeconds }) => persistenceSeconds)).to.deep.equal([30]);
    expect(after.ticksPerSecond).to.equal(250);
  });
});
