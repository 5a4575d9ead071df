import { expect } from 'chai';
import fc from 'fast-check';
import { anyIpvs, ipvs, real, server } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import { MemoryIpvs } from '../../test/kernel/memory-ipvs.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { renderIpvsState } from '../kernel/ipvs/render.ts';
import type { VirtualServer, VirtualServerKey } from '../kernel/ipvs/state.ts';
import { succeed } from '../model/result.ts';
import { FAMILIES } from '../net/family.ts';
import type { Host } from './host.ts';
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
    expect((again.state.get(TCP)?.realServers ?? []).map(({ connections }) => connections)).to.deep.equal([3]);
    expect(again.state.get(UDP)).to.deep.equal(known.state.get(UDP));
  });

  it('does not believe the file when it lacks a virtual server that is known', async () => {
    kernel.skippedInProc.add('-t 172.20.1.1:80');
    const again = await reading(rereadIpvs(kernel, known));
    expect(again.state.has(TCP)).to.equal(true);
    expect(kernel.calls.map(({ args }) => args)).to.deep.equal([['-Ln']]);
  });

  describe('persistence that is edited between the two readings', () => {
    /** The file as it was before, the list as it is. */
    async function readWhileEdited(...edits: readonly string[]): Promise<IpvsReading> {
      const earlier = await kernel.readText('/proc/net/ip_vs');
      kernel.ipvs.restore(edits.map((edit) => `${edit}\n`).join(''));
      return reading(readIpvs({ ...kernel, readText: async () => earlier }));
    }

    it('teaches nothing where others do not agree', async () => {
      kernel.ipvs.restore('-A -u [fd00::2]:53 -s rr -p 600\n');
      const { ticksPerSecond } = await readWhileEdited('-E -u [fd00::2]:53 -s rr -p 60');
      expect(ticksPerSecond).to.equal(undefined);
    });

    it('is read anew by the next one, with what it taught', async () => {
      const wrong = await readWhileEdited('-E -u [fd00::1]:53 -s mh -p 5400 -b mh-port');
      expect(wrong.ticksPerSecond).to.equal(500);
      const again = await reading(rereadIpvs(kernel, wrong));
      expect([again.state.get(UDP)?.persistenceSeconds, again.ticksPerSecond]).to.deep.equal([5400, 250]);
    });
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

  describe('of what is known', () => {
    const wanted = ipvs(server([real('10.180.0.1')]), server([real('10.180.0.2')], { address: ip('172.20.1.2') }));
    const [FIRST, SECOND] = [...wanted.keys()];
    let restored: MemoryIpvs;
    const readOf = (from: MemoryIpvs, before: IpvsReading) => reading(rereadIpvs(fileOf(from.proc()), before));

    beforeEach(() => {
      restored = new MemoryIpvs();
      restored.restore(renderIpvsState(wanted));
    });

    it('keeps the objects that are as read, though nobody has counted their connections', async () => {
      const first = await readOf(restored, { state: wanted, ticksPerSecond: undefined });
      restored.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 3);
      const again = await readOf(restored, first);
      for (const key of wanted.keys()) {
        expect(first.state.get(key)).to.equal(wanted.get(key));
        expect(again.state.get(key)).to.equal(wanted.get(key));
      }
    });

    it('sees what others have changed since, and what they have changed back', async () => {
      const first = await readOf(restored, { state: wanted, ticksPerSecond: undefined });
      restored.restore('-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 5\n');
      const changed = await readOf(restored, first);
      expect(weights(changed.state.get(FIRST as VirtualServerKey))).to.deep.equal([5]);
      expect(changed.state.get(SECOND as VirtualServerKey)).to.equal(wanted.get(SECOND as VirtualServerKey));
      restored.restore('-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1\n');
      expect(weights((await readOf(restored, changed)).state.get(FIRST as VirtualServerKey))).to.deep.equal([1]);
    });

    it('believes the file when it is as it was, and what is known has become another', async () => {
      const first = await readOf(restored, { state: wanted, ticksPerSecond: undefined });
      const known = new Map(first.state).set(FIRST as VirtualServerKey, server([real('10.180.0.1', { weight: 0 })]));
      const again = await readOf(restored, { ...first, state: known });
      expect(weights(again.state.get(FIRST as VirtualServerKey))).to.deep.equal([1]);
    });

    it('tells connections of a real server without weight', async () => {
      restored.restore('-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 0\n');
      const known = new Map(wanted).set(FIRST as VirtualServerKey, server([real('10.180.0.1', { weight: 0 })]));
      const again = await readOf(restored, { state: known, ticksPerSecond: undefined });
      const reals = again.state.get(FIRST as VirtualServerKey)?.realServers ?? [];
      expect(reals.map(({ connections }) => connections)).to.deep.equal([0]);
    });

    for (const family of FAMILIES) {
      it(`reads the same as without memory, from any ${family} state to any other`, () =>
        fc.assert(
          fc.asyncProperty(anyIpvs(family), anyIpvs(family), async (before, after) => {
            const [first, second] = [new MemoryIpvs(), new MemoryIpvs()];
            first.restore(renderIpvsState(before));
            second.restore(renderIpvsState(after));
            const remembered = await readOf(first, { state: new Map(), ticksPerSecond: 250 });
            const plain = { state: new Map(), ticksPerSecond: 250 };
            const [read, fresh] = await Promise.all([
              readOf(second, { ...remembered, state: new Map() }),
              readOf(second, plain),
            ]);
            expect(read.state).to.deep.equal(fresh.state);
          }),
        ));
    }
  });

  function weights(of: VirtualServer | undefined): readonly number[] {
    return (of?.realServers ?? []).map(({ weight }) => weight);
  }

  function fileOf(text: string): Host {
    return { ...kernel, readText: async () => succeed(text) };
  }
});
