import { expect } from 'chai';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { AddressMonitor } from './address-monitor.ts';
import type { FollowCall } from './host.ts';
import type { ToolError } from './tool.ts';

describe('apply/address-monitor', () => {
  /** A process that a test makes speak and end. */
  interface Run {
    readonly call: FollowCall;
    readonly say: (line: string) => void;
    readonly end: (reason: ToolError | undefined) => void;
    stopped: boolean;
  }
  let clock: SteppedClock;
  let runs: Run[];
  let told: string[];
  let monitor: AddressMonitor;

  beforeEach(() => {
    clock = new SteppedClock();
    runs = [];
    told = [];
    monitor = new AddressMonitor({
      host: {
        followTool: (call, onLine) => {
          const { promise, resolve } = Promise.withResolvers<ToolError | undefined>();
          const run: Run = { call, say: onLine, end: resolve, stopped: false };
          runs.push(run);
          return {
            ended: promise,
            stop: () => {
              run.stopped = true;
              resolve(undefined);
            },
          };
        },
      },
      clock,
      changed: () => told.push('changed'),
      trouble: (message) => told.push(`trouble: ${message}`),
      recovered: () => told.push('recovered'),
    });
    monitor.start();
  });

  const line = (address: string, name = 'eth0') =>
    `2: ${name}    inet ${address} scope global ${name}\\  valid_lft forever`;
  const died: ToolError = { kind: 'tool-refused', tool: 'ip', exitCode: 1, stderr: 'died', script: '' };
  const missing: ToolError = { kind: 'tool-missing', tool: 'ip' };

  it('asks the kernel by one process', () =>
    expect(runs.map(({ call }) => call)).to.deep.equal([{ tool: 'ip', args: ['-o', 'monitor', 'address'] }]));

  it('tells of an address that comes and goes', () => {
    runs[0]?.say(line('192.168.0.200/24'));
    expect(told).to.deep.equal(['changed']);
    runs[0]?.say(`Deleted ${line('192.168.0.200/24')}`);
    expect(told).to.deep.equal(['changed', 'changed']);
    runs[0]?.say(line('192.168.0.200/24'));
    expect(told).to.deep.equal(['changed', 'changed', 'changed']);
  });

  it('is silent about addresses of Services, and about lifetimes that are renewed', () => {
    runs[0]?.say(line('10.96.0.1/32', 'kube-ipvs0'));
    expect(told).to.deep.equal([]);
    for (let n = 0; n < 3; n += 1) runs[0]?.say(line('192.168.0.200/24'));
    expect(told).to.deep.equal(['changed']);
  });

  it('takes words that it does not understand for lost events', () => {
    runs[0]?.say('netlink receive error No buffer space available (105)');
    expect(told).to.deep.equal(['changed']);
  });

  it('starts the process again when it ends, later each time, and takes for granted that something was missed', async () => {
    for (const delayMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const before = runs.length;
      told = [];
      runs.at(-1)?.end(died);
      await clock.advance(delayMs - 1);
      expect(runs.length, `before ${delayMs} ms`).to.equal(before);
      await clock.advance(1);
      expect(runs.length, `after ${delayMs} ms`).to.equal(before + 1);
      expect(told.at(-1)).to.equal('changed');
    }
  });

  it('tells the reason once, and once that it is over', async () => {
    for (const delayMs of [1_000, 2_000, 4_000]) {
      runs.at(-1)?.end(missing);
      await clock.advance(delayMs);
    }
    expect(told).to.deep.equal(["trouble: ip is not installed or not on PATH; install Debian's package iproute2"]);
    runs.at(-1)?.end(died);
    await clock.advance(8_000 + 10_000);
    expect(told.slice(1)).to.deep.equal(['trouble: ip failed with status 1: died', 'changed', 'recovered']);
    runs.at(-1)?.end(died);
    await clock.advance(1_000);
    expect(told.slice(4)).to.deep.equal(['trouble: ip failed with status 1: died', 'changed']);
  });

  it('kills the process when it is stopped, and starts none any more', async () => {
    await monitor.stop();
    await clock.advance(60_000);
    expect(runs.map(({ stopped }) => stopped)).to.deep.equal([true]);
    expect(clock.pending()).to.deep.equal([]);
    expect(told).to.deep.equal([]);
  });

  it('can be stopped while it waits for the next try', async () => {
    runs[0]?.end(died);
    await clock.advance(10);
    await monitor.stop();
    await clock.advance(60_000);
    expect(runs).to.have.lengthOf(1);
  });
});
