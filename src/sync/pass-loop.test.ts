import { expect } from 'chai';
import { ip, port } from '../../test/builders/net.ts';
import { portSpec, service, slice, sliceEndpoint } from '../../test/builders/objects.ts';
import { proxierOn } from '../../test/builders/proxier.ts';
import { type MemoryKernel, memoryKernel } from '../../test/kernel/memory-kernel.ts';
import { SteppedClock } from '../../test/stepped-clock.ts';
import { serviceName } from '../model/names.ts';
import { BoundedFrequencyRunner } from '../queue/bounded-frequency-runner.ts';
import type { ServiceChange } from '../queue/change.ts';
import { QueueMetrics } from '../queue/queue-metrics.ts';
import { ServiceQueue } from '../queue/service-queue.ts';
import { DEFAULT_QUEUE_SETTINGS } from '../queue/settings.ts';
import { ChangeIntake } from './change-intake.ts';
import { type PassLog, PassLoop } from './pass-loop.ts';
import { PassMetrics } from './pass-metrics.ts';
import type { Proxier } from './proxier.ts';
import type { Refusal } from './sync-family.ts';

const CHANGE: Omit<ServiceChange, 'service'> = {
  ...{ kind: 'service-added', level: 'critical' },
  ...{ readyBefore: 1, readyAfter: 1, magnitude: 1 },
};

describe('sync/pass-loop', () => {
  let kernel: MemoryKernel;
  let proxier: Proxier;
  let loop: PassLoop;
  let passLoop: (nowMs: () => number) => PassLoop;
  let clock: SteppedClock;
  let queue: ServiceQueue;
  let intake: ChangeIntake;
  let metrics: PassMetrics;
  let told: (readonly [string, string, object])[];
  const cart = service();
  const endpoints = slice({ endpoints: [sliceEndpoint('10.180.0.1')] });

  beforeEach(() => {
    kernel = memoryKernel({ eth0: ['192.168.0.10/24'] });
    clock = new SteppedClock();
    proxier = proxierOn(kernel, { nowMs: () => clock.nowMs() });
    told = [];
    const record = (level: string) => (fields: object, message: string) => {
      told.push([level, message, fields]);
    };
    const log: PassLog = { info: record('info'), debug: record('debug'), warn: record('warn') };
    metrics = new PassMetrics();
    queue = new ServiceQueue({ clock, random: () => 0, settings: DEFAULT_QUEUE_SETTINGS });
    intake = new ChangeIntake(proxier.record, queue, DEFAULT_QUEUE_SETTINGS.thresholds, new QueueMetrics());
    passLoop = (nowMs) => new PassLoop({ proxier, queue, metrics, log, nowMs, fullIntervalMs: 30_000 });
    loop = passLoop(() => clock.nowMs());
    intake.service(undefined, cart);
    intake.slice(undefined, endpoints);
  });

  const run = (...reasons: string[]) => loop.run(new Set(reasons));

  /** Levels and sentences told since the last call. */
  function takeTold(): string[] {
    return told.splice(0).map(([level, message]) => `${level}: ${message}`);
  }

  it('is done after a pass that succeeds, and tells what it did in one line', async () => {
    expect(await run('start', 'services')).to.deep.equal({ kind: 'done' });
    expect(told).to.have.lengthOf(1);
    const [level, message, fields] = told[0] ?? [];
    expect([level, message]).to.deep.equal(['info', 'node programmed']);
    expect(fields).to.deep.equal({
      pass: 'full',
      reasons: ['services', 'start'],
      ms: 0,
      services: 1,
      critical: 1,
      'create-set': 40,
      'add-entry': 2,
      'iptables-nat': 1,
      'iptables-filter': 1,
      'ip6tables-nat': 1,
      'ip6tables-filter': 1,
      'add-virtual-server': 1,
      'add-real-server': 1,
      'bind-address': 1,
      toolMs: { ipset: 0, iptables: 0, ip6tables: 0, ipvs: 0, address: 0 },
    });
  });

  it('tells of a pass without work only to those who look closely', async () => {
    await run('start');
    takeTold();
    await run('services');
    expect(takeTold()).to.deep.equal(['debug: nothing to do']);
  });

  const kinds: readonly (readonly [readonly string[], string])[] = [
    [['start'], 'full'],
    [['periodic'], 'full'],
    [['addresses'], 'full'],
    [['node'], 'full'],
    [['services', 'node'], 'full'],
    [['services'], 'normal'],
    [['endpoints', 'retry'], 'normal'],
  ];
  for (const [reasons, kind] of kinds) {
    it(`runs a ${kind} pass for ${reasons.join(' and ')}`, async () => {
      await run('start');
      told = [];
      await run(...reasons);
      expect(told.map(([, , fields]) => 'pass' in fields && fields.pass)).to.deep.equal([kind]);
    });
  }

  it('keeps what a pass could not do for a later one', async () => {
    await run('start');
    kernel.missing.add('ipset');
    intake.service(cart, { ...cart, externalIPs: [ip('203.0.113.1')] });
    await run('high');
    expect(queue.waiting().map(({ service: name }) => name)).to.deep.equal(['shop/cart']);
    kernel.missing.clear();
    await run('retry');
    expect(queue.waiting()).to.deep.equal([]);
    expect(kernel.ipvs.save()).to.include('-A -t 203.0.113.1:80 -s rr');
  });

  it('runs a full pass when it is time for one, however many normal ones come in between', async () => {
    await run('start');
    const passes: unknown[] = [];
    for (let seconds = 10; seconds <= 70; seconds += 10) {
      await clock.advance(10_000);
      told = [];
      await run('high');
      passes.push(told.map(([, , fields]) => 'pass' in fields && fields.pass)[0]);
    }
    expect(passes).to.deep.equal(['normal', 'normal', 'full', 'normal', 'normal', 'full', 'normal']);
  });

  it('asks to be run again when it is time for a full pass, counted from the last one', async () => {
    await run('start');
    await clock.advance(29_500);
    expect(await run('high')).to.deep.equal({ kind: 'retry', afterMs: 500, reason: 'periodic' });
    await clock.advance(500);
    told = [];
    expect(await run('periodic')).to.deep.equal({ kind: 'done' });
    expect(told[0]?.[2]).to.include({ pass: 'full' });
  });

  it('has a full pass each period when nothing happens, for no other reason', async () => {
    const runner = new BoundedFrequencyRunner({
      clock,
      minIntervalMs: 0,
      maxIntervalMs: 30_000,
      run: (reasons) => loop.run(reasons),
    });
    let looks = 0;
    loop = passLoop(() => clock.nowMs() + looks++ / 1000);
    runner.start();
    runner.request('start');
    await clock.advance(0);
    told = [];
    await clock.advance(100_000);
    await runner.stop();
    const passes = told.map(([, , fields]) => 'pass' in fields && 'reasons' in fields && [fields.pass, fields.reasons]);
    expect(passes).to.deep.equal(Array.from({ length: 3 }, () => ['full', ['periodic']]));
  });

  it('waits 1, 2, 4 … and at most 30 seconds after failures, and begins anew after a success', async () => {
    const delays: number[] = [];
    const take = async () => {
      const outcome = await run('retry');
      delays.push(outcome.kind === 'retry' ? outcome.afterMs : 0);
    };
    kernel.missing.add('ipset');
    for (let failures = 0; failures < 7; failures++) await take();
    kernel.missing.clear();
    await take();
    kernel.missing.add('ip');
    intake.service(cart, { ...cart, externalIPs: [ip('203.0.113.1')] });
    await take();
    expect(delays).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 0, 1000]);
  });

  it('tells of a fault once, again when it changes, and of its end', async () => {
    kernel.missing.add('ipset');
    for (const reason of ['start', 'retry', 'retry']) await run(reason);
    expect(takeTold()).to.deep.equal(['warn: pass failed and will be tried again']);
    kernel.missing.add('ip');
    kernel.missing.delete('ipset');
    await run('retry');
    expect(told.at(-1)?.[2]).to.include({
      err: "reading the kernel: ip is not installed or not on PATH; install Debian's package iproute2",
    });
    expect(takeTold()).to.deep.equal(['warn: pass failed and will be tried again']);
    kernel.missing.clear();
    await run('retry');
    expect(takeTold()).to.deep.equal(['info: node programmed', 'info: passes succeed again']);
    await run('services');
    expect(takeTold()).to.deep.equal(['debug: nothing to do']);
  });

  it('does not count steps of a family that failed', async () => {
    kernel.missing.add('iptables-restore');
    await run('start');
    expect(told[0]?.[2]).to.include({ pass: 'full', 'create-set': 20, 'ip6tables-nat': 1 });
    expect(told[0]?.[2]).to.not.include.any.keys('add-virtual-server', 'iptables-nat');
  });

  it('looks after a real server that drains less and less often, and does nothing but look, until its last connection has ended', async () => {
    await run('start');
    kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 1);
    intake.slice(endpoints, undefined);
    const waits: number[] = [];
    let outcome = await run('endpoints');
    kernel.calls.splice(0);
    while (outcome.kind === 'retry' && waits.length < 6) {
      waits.push(outcome.afterMs);
      await clock.advance(outcome.afterMs);
      outcome = await run('retry');
    }
    expect(waits).to.deep.equal([1_000, 2_000, 4_000, 8_000, 15_000, 30_000]);
    expect(kernel.calls.filter(({ input }) => input !== undefined)).to.deep.equal([]);
    kernel.ipvs.connect('-t 172.20.1.1:80', '10.180.0.1:8080', 0);
    await clock.advance(60_000);
    await run('retry');
    expect(kernel.ipvs.save()).to.equal('-A -t 172.20.1.1:80 -s rr\n');
  });

  it('tells of a clash of Services once, even when passes in between fail, and again after it had gone', async () => {
    const rival = service({ name: 'shop/rival' });
    const clash =
      'warn: Service shop/rival:http/TCP: TCP 172.20.1.1:80 is also claimed by shop/cart:http/TCP, which is served';
    intake.service(undefined, rival);
    await run('start');
    expect(takeTold()).to.include(clash);
    kernel.missing.add('ip');
    await run('periodic');
    kernel.missing.clear();
    await run('periodic');
    expect(takeTold()).to.not.include(clash);
    intake.service(rival, undefined);
    await run('services');
    intake.service(undefined, rival);
    await run('services');
    expect(takeTold().filter((line) => line === clash)).to.have.lengthOf(1);
  });

  it('tells once of stale UDP flows that may be left, again after it had been mended, and runs no retry for them', async () => {
    const left = 'warn: stale IPv4 UDP flows may be left: conntrack failed with status 1: no';
    const dns = service({ name: 'shop/dns', addresses: ['172.20.1.2'], ports: [portSpec({ protocol: 'UDP' })] });
    const { runTool } = kernel;
    const spoil = () => {
      kernel.runTool = async (call) =>
        call.tool === 'conntrack'
          ? { ok: false, error: { kind: 'tool-refused', tool: call.tool, exitCode: 1, stderr: 'no', script: '' } }
          : runTool(call);
    };
    spoil();
    intake.service(undefined, dns);
    expect(await run('start')).to.deep.equal({ kind: 'done' });
    await run('services');
    expect(takeTold().filter((line) => line === left)).to.have.lengthOf(1);
    kernel.runTool = runTool;
    await run('services');
    intake.service(dns, undefined);
    spoil();
    await run('services');
    expect(takeTold().filter((line) => line === left)).to.have.lengthOf(1);
  });

  it('tells once of what is not ours and stays', async () => {
    kernel.ipvs.restore('-A -t 10.9.9.9:443 -s wlc\n');
    kernel.addresses.put('kube-ipvs0', '10.9.9.8/32');
    await run('start');
    await run('periodic');
    expect(takeTold().filter((line) => line.startsWith('warn'))).to.deep.equal([
      'warn: virtual server TCP 10.9.9.9:443 is not ours and is left alone',
      'warn: address 10.9.9.8 on kube-ipvs0 is not ours and is left alone',
    ]);
  });

  describe('with a Service that the kernel refuses', () => {
    const odd = service({ name: 'shop/odd', addresses: ['172.20.1.9'] });
    const oddEndpoints = slice({ name: 'shop/odd-1', service: 'shop/odd', endpoints: [sliceEndpoint('10.180.0.9')] });
    const leftOut = 'warn: left out: real server 10.180.0.9:8080 of TCP 172.20.1.9:80; it will be tried again';
    const bad = '-a -t 172.20.1.9:80 -r 10.180.0.9:8080 -m -w 1';

    beforeEach(async () => {
      await run('start');
      kernel.ipvs.refuse('10.180.0.9:8080');
      intake.service(undefined, odd);
      intake.slice(undefined, oddEndpoints);
      takeTold();
    });

    /** Runs what is due until then. */
    async function runUntil(ms: number): Promise<void> {
      while (queue.nextDueMs() <= ms) {
        await clock.advance(Math.max(0, queue.nextDueMs() - clock.nowMs()));
        await run('high');
      }
      await clock.advance(ms - clock.nowMs());
    }

    it('has passes succeed, tells of it once, and tries again on the delays of its kind, later in quarantine', async () => {
      expect(await run('critical')).to.deep.equal({ kind: 'done' });
      expect(takeTold()).to.include(leftOut);
      const tried: number[] = [];
      const { runTool } = kernel;
      kernel.runTool = async (call) => {
        if (call.input?.includes('10.180.0.9:8080')) tried.push(clock.nowMs());
        return runTool(call);
      };
      await runUntil(5_000);
      expect(tried).to.deep.equal([50, 100, 800, 1_600, 2_400, 4_800]);
      expect(takeTold().filter((line) => line.startsWith('warn'))).to.deep.equal([
        'warn: Service keeps failing and is left out of the passes of others',
      ]);
    });

    it('tells of it again when it was programmed in between', async () => {
      await run('critical');
      kernel.ipvs.refuse();
      await runUntil(1_000);
      takeTold();
      kernel.ipvs.restore('-d -t 172.20.1.9:80 -r 10.180.0.9:8080\n');
      kernel.ipvs.refuse('10.180.0.9:8080');
      await run('periodic');
      expect(takeTold()).to.include(leftOut);
    });

    it('programs others without trying it', async () => {
      await run('critical');
      kernel.calls.splice(0);
      intake.service(undefined, service({ name: 'shop/other', addresses: ['172.20.1.2'] }));
      expect(await run('critical')).to.deep.equal({ kind: 'done' });
      expect(kernel.calls.some(({ input }) => input?.includes('10.180.0.9'))).to.equal(false);
      expect(kernel.ipvs.save()).to.include('-A -t 172.20.1.2:80 -s rr');
    });

    it('leaves it out of full passes too once it is in quarantine, and lets a change of the Service itself through', async () => {
      await runUntil(5_000);
      expect(queue.isQuarantined('shop/odd')).to.equal(true);
      kernel.ipvs.refuse();
      await run('periodic');
      expect(kernel.ipvs.save()).to.not.include(bad);
      takeTold();
      intake.service(odd, { ...odd, affinitySeconds: 60 });
      await runUntil(clock.nowMs() + 200);
      expect(kernel.ipvs.save()).to.include(bad);
      expect(takeTold().at(-1)).to.equal('info: Service is programmed again');
      expect(queue.isQuarantined('shop/odd')).to.equal(false);
    });

    it('has a Service tried again that a pass for others found refused', async () => {
      kernel.ipvs.refuse();
      await runUntil(1_000);
      kernel.ipvs.restore('-d -t 172.20.1.9:80 -r 10.180.0.9:8080\n');
      kernel.ipvs.refuse('10.180.0.9:8080');
      await run('periodic');
      expect(queue.waiting().map(({ service: name }) => name)).to.deep.equal(['shop/odd']);
      kernel.ipvs.refuse();
      await runUntil(clock.nowMs() + 2_000);
      expect(kernel.ipvs.save()).to.include(bad);
    });

    it('lets no Service pass for applied whose address is refused because of another one, too', async () => {
      kernel.ipvs.refuse();
      await runUntil(1_000);
      const vip = [ip('203.0.113.1')];
      const [a, b] = ['a', 'b'].map((name, index) =>
        service({
          name: `shop/${name}`,
          addresses: [`172.20.3.${index}`],
          externalIPs: vip,
          ports: [portSpec({ port: port(80 + index) })],
        }),
      );
      kernel.addresses.refuse('203.0.113.1/32');
      intake.service(undefined, a);
      await runUntil(clock.nowMs() + 5_000);
      expect(queue.isQuarantined('shop/a')).to.equal(true);
      intake.service(undefined, b);
      await runUntil(clock.nowMs() + 5_000);
      expect(queue.quarantined().map(({ service: name }) => name)).to.deep.equal(['shop/a', 'shop/b']);
      kernel.addresses.refuse();
      await runUntil(clock.nowMs() + 2_500);
      expect(kernel.addresses.addresses('kube-ipvs0')).to.include('203.0.113.1');
    });

    it('does not blame it for what stops everything', async () => {
      kernel.missing.add('ipset');
      await run('critical');
      for (let n = 0; n < 5; n++) await run('retry');
      expect(queue.quarantined()).to.deep.equal([]);
      expect(queue.waiting().map(({ failures }) => failures)).to.deep.equal([0]);
    });
  });

  it('looks at each refusal a few times only, however many Services fail at once', async () => {
    const names = Array.from({ length: 500 }, (_, n) => serviceName('shop', `odd-${n}`));
    let looks = 0;
    const refusals = names.map((name): Refusal => {
      const refused = { kind: 'address', address: ip('203.0.113.1') } as const;
      return {
        get service() {
          looks += 1;
          return name;
        },
        ...{ refused, message: 'Invalid argument' },
      };
    });
    const failing = new PassLoop({
      proxier: {
        kindOf: (kind) => kind,
        pass: async (kind, reasons) => ({ kind, reasons, tookMs: 0, families: [], errors: [], refusals }),
      },
      ...{ queue, metrics, log: { info: () => {}, debug: () => {}, warn: () => {} } },
      ...{ nowMs: () => clock.nowMs(), fullIntervalMs: 30_000 },
    });
    for (const name of names) queue.add({ ...CHANGE, service: name });
    await failing.run(new Set(['critical']));
    expect(queue.waiting().filter(({ failures }) => failures === 1)).to.have.lengthOf(500);
    expect(looks).to.be.at.most(5 * 500);
  });

  describe('what the kernel did not take of a Service before', () => {
    const turns: readonly (readonly ['normal' | 'full', 'taken' | 'not taken', 'quarantined' | 'free', boolean])[] = [
      ['normal', 'taken', 'free', true],
      ['normal', 'taken', 'quarantined', true],
      ['normal', 'not taken', 'free', false],
      ['normal', 'not taken', 'quarantined', false],
      ['full', 'taken', 'free', true],
      ['full', 'taken', 'quarantined', true],
      ['full', 'not taken', 'free', true],
      ['full', 'not taken', 'quarantined', false],
    ];
    for (const [kind, taken, state, isTried] of turns) {
      it(`is ${isTried ? '' : 'not '}tried again in a ${kind} pass when the Service is ${state} and ${taken}`, async () => {
        const asked: boolean[] = [];
        const work = queue.drain().filter(() => taken === 'taken');
        const trying = new PassLoop({
          proxier: {
            kindOf: () => kind,
            pass: (_kind, reasons, tries = () => false) => {
              asked.push(tries(cart.name));
              return proxier.pass(kind, reasons);
            },
          },
          queue: { add: () => true, drain: () => work, done: () => undefined, isQuarantined: () => state !== 'free' },
          ...{ metrics, log: { info: () => {}, debug: () => {}, warn: () => {} } },
          ...{ nowMs: () => clock.nowMs(), fullIntervalMs: 30_000 },
        });
        await trying.run(new Set(['high']));
        expect(asked).to.deep.equal([isTried]);
      });
    }
  });

  it('counts passes by what they were for', async () => {
    await run('start');
    await run('retry');
    kernel.missing.add('ip');
    await run('periodic');
    expect(metrics.read()).to.deep.equal({
      byKind: { full: 2, normal: 1 },
      failed: 1,
      byReason: { start: 1, retry: 1, periodic: 1 },
      byLevel: { critical: 1, high: 0, normal: 0, low: 0, none: 2 },
      services: 1,
    });
  });
});
