import { expect } from 'chai';
import fc from 'fast-check';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import type { FlowEndKey, FlowTargets } from '../kernel/conntrack/state.ts';
import { clearStaleFlows, conntrackWarnings } from './conntrack.ts';
import type { ToolError } from './tool.ts';

describe('apply/conntrack', () => {
  let kernel: MemoryKernel;
  let nowMs = 0;
  const [frontend, live, dead] = ['172.20.1.1:53', '10.180.0.1:5353', '10.180.0.2:5353'] as const;

  beforeEach(() => {
    kernel = memoryKernel({});
  });

  const targetsOf = (given: Readonly<Record<string, readonly string[]>>): FlowTargets =>
    new Map(Object.entries(given).map(([key, list]) => [key as FlowEndKey, new Set(list as readonly FlowEndKey[])]));
  const flow = (to: string, answeredBy: string, from = '192.0.2.7:40000') => ({ from, to, answeredBy });
  const clear = (targets = targetsOf({ [frontend]: [live] }), family: 'IPv4' | 'IPv6' = 'IPv4') =>
    clearStaleFlows(kernel, family, targets, () => nowMs);

  const deleteDead =
    '-D -f ipv4 -p udp --orig-dst 172.20.1.1 --orig-port-dst 53 --reply-src 10.180.0.2 --reply-port-src 5353'.split(
      ' ',
    );

  /** Command lines since the last call. */
  const commands = () => kernel.calls.splice(0).map(({ tool, args }) => [tool, ...args].join(' '));

  function refuse(question: string, error: ToolError): void {
    const { runTool } = kernel;
    kernel.runTool = async (call) => (call.args.includes(question) ? { ok: false, error } : runTool(call));
  }
  const refused: ToolError = { kind: 'tool-refused', tool: 'conntrack', exitCode: 1, stderr: 'no', script: '' };

  it('ends the flows that somebody else answers, one process for each pair of ends, and leaves the others', async () => {
    kernel.conntrack.put(
      flow(frontend, dead),
      flow(frontend, dead, '192.0.2.7:40001'),
      flow(frontend, live),
      flow('192.0.2.1:53', dead),
      flow(frontend, frontend),
    );
    expect(await clear()).to.deep.equal({ ok: true, value: { flows: 3, deletions: 2, more: false } });
    const deletion = `conntrack -D -f ipv4 -p udp --orig-dst 172.20.1.1 --orig-port-dst 53`;
    expect(commands()).to.deep.equal([
      'conntrack -L -p udp -f ipv4',
      `${deletion} --reply-src 10.180.0.2 --reply-port-src 5353`,
      `${deletion} --reply-src 172.20.1.1 --reply-port-src 53`,
    ]);
    expect(kernel.conntrack.flows()).to.deep.equal([
      `192.0.2.7:40000 > ${frontend} > ${live}`,
      `192.0.2.7:40000 > 192.0.2.1:53 > ${dead}`,
    ]);
  });

  it('ends all flows to a frontend that nobody may answer with one process', async () => {
    kernel.conntrack.put(flow(frontend, live), flow(frontend, dead), flow(frontend, frontend));
    expect(await clear(targetsOf({ [frontend]: [] }))).to.deep.equal({
      ok: true,
      value: { flows: 3, deletions: 1, more: false },
    });
    expect(commands()[1]).to.equal('conntrack -D -f ipv4 -p udp --orig-dst 172.20.1.1 --orig-port-dst 53');
  });

  it('starts no second process when nothing is stale', async () => {
    kernel.conntrack.put(flow(frontend, live));
    expect(await clear()).to.deep.equal({ ok: true, value: { flows: 0, deletions: 0, more: false } });
    expect(commands()).to.deep.equal(['conntrack -L -p udp -f ipv4']);
  });

  it('looks at the flows of the family alone', async () => {
    kernel.conntrack.put(flow(frontend, dead), flow('[fd00:20::1]:53', '[fd00:180::2]:53', '[fd00::7]:40000'));
    await clear(targetsOf({ '[fd00:20::1]:53': [] }), 'IPv6');
    expect(commands()).to.deep.equal([
      'conntrack -L -p udp -f ipv6',
      'conntrack -D -f ipv6 -p udp --orig-dst fd00:20::1 --orig-port-dst 53',
    ]);
    expect(kernel.conntrack.flows()).to.deep.equal([`192.0.2.7:40000 > ${frontend} > ${dead}`]);
  });

  it('starts at most fifty processes at once, and tells whether more is left', async () => {
    const stale = Array.from({ length: 60 }, (_, index) => flow(frontend, `10.180.1.${index}:5353`));
    kernel.conntrack.put(...stale);
    expect(await clear()).to.deep.equal({ ok: true, value: { flows: 50, deletions: 50, more: true } });
    expect(await clear()).to.deep.equal({ ok: true, value: { flows: 10, deletions: 10, more: false } });
    expect(kernel.conntrack.flows()).to.deep.equal([]);
  });

  it('stops after five seconds of ending them, however long it took to list them, and tells that more is left', async () => {
    const { runTool } = kernel;
    kernel.runTool = async (call) => {
      nowMs += call.args[0] === '-L' ? 60_000 : 2000;
      return runTool(call);
    };
    kernel.conntrack.put(...[1, 2, 3, 4].map((last) => flow(frontend, `10.180.1.${last}:5353`)));
    expect(await clear()).to.deep.equal({ ok: true, value: { flows: 3, deletions: 3, more: true } });
  });

  it('takes it as done when a flow has ended by itself meanwhile', async () => {
    const { runTool } = kernel;
    kernel.conntrack.put(flow(frontend, dead));
    kernel.runTool = async (call) => {
      const answer = await runTool(call);
      if (call.args.includes('-L')) await runTool({ ...call, args: deleteDead });
      return answer;
    };
    expect(await clear()).to.deep.equal({ ok: true, value: { flows: 0, deletions: 1, more: false } });
  });

  it('does nothing without the tool, which is no error', async () => {
    kernel.missing.add('conntrack');
    kernel.conntrack.put(flow(frontend, dead));
    expect(await clear()).to.deep.equal({ ok: true, value: { flows: 0, deletions: 0, more: false } });
  });

  it('says what went wrong with either process', async () => {
    kernel.conntrack.put(flow(frontend, dead));
    refuse('-D', refused);
    expect(await clear()).to.deep.equal({ ok: false, error: refused });
    refuse('-L', { kind: 'tool-timeout', tool: 'conntrack', afterMs: 10_000 });
    expect(await clear()).to.deep.equal({
      ok: false,
      error: { kind: 'tool-timeout', tool: 'conntrack', afterMs: 10_000 },
    });
  });

  it('ends nothing when it does not understand the list', async () => {
    kernel.runTool = async () => ({ ok: true, value: { stdout: 'udp 17 something else\n', stderr: '' } });
    expect(await clear()).to.deep.equal({
      ok: false,
      error: { kind: 'not-understood', source: 'conntrack -L -p udp -f ipv4' },
    });
  });

  it('leaves exactly the flows that may stay, whatever there are', async () => {
    const ends = fc.constantFrom(frontend, '172.20.1.2:53', live, dead, '192.168.0.10:30053');
    const flows = fc.array(
      fc.record({ from: fc.constantFrom('192.0.2.1:1000', '192.0.2.2:2000'), to: ends, answeredBy: ends }),
    );
    const targets = fc.dictionary(ends, fc.uniqueArray(ends), { maxKeys: 3 });
    await fc.assert(
      fc.asyncProperty(flows, targets, async (present, given) => {
        kernel = memoryKernel({});
        kernel.conntrack.put(...present);
        await clear(targetsOf(given));
        const mayStay = present.filter(({ to, answeredBy }) => given[to]?.includes(answeredBy) ?? true);
        const texts = mayStay.map(({ from, to, answeredBy }) => `${from} > ${to} > ${answeredBy}`);
        expect(kernel.conntrack.flows()).to.deep.equal(texts);
      }),
    );
  });

  describe('at the start', () => {
    it('is content with a tool that is there', async () => {
      kernel.runTool = async () => ({
        ok: true,
        value: { stdout: 'conntrack v1.4.7 (conntrack-tools)\n', stderr: '' },
      });
      expect(await conntrackWarnings(kernel)).to.deep.equal([]);
    });

    it('warns of a missing tool, naming its package', async () => {
      kernel.missing.add('conntrack');
      expect(await conntrackWarnings(kernel)).to.deep.equal([
        "stale UDP flows are not ended: conntrack is not installed or not on PATH; install Debian's package conntrack",
      ]);
    });
  });
});
