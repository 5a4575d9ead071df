import { expect } from 'chai';
import { PassLoop } from '../../src/sync/pass-loop.ts';
import type { PassReport } from '../../src/sync/proxier.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { cart, ELSEWHERE, HERE } from './cart.ts';
import { page } from './pages.ts';
import { startNode } from './start-node.ts';

/** What happened until a pass had nothing to try again. */
interface Retried {
  readonly failures: number;
  /** From the release of the lock to the end of the pass that succeeded. */
  readonly lateMs: number;
}

describe('test/reports/rule-lock', () => {
  /** Holds the lock of iptables for so long from now on, as another program does. */
  function hold(node: NodeUnderTest, heldMs: number): void {
    const untilMs = node.nowMs + heldMs;
    const { runTool } = node.kernel;
    node.kernel.runTool = async (call) => {
      const { tool, args, input = '' } = call;
      if (tool !== 'iptables-restore' && tool !== 'ip6tables-restore') return runTool(call);
      const patienceMs = 1000 * Number(args[args.indexOf('-w') + 1]);
      node.wait(Math.min(patienceMs, Math.max(0, untilMs - node.nowMs)));
      if (node.nowMs >= untilMs) return runTool(call);
      const stderr = 'Another app is currently holding the xtables lock; still 0s 0us time ahead to have a chance.\n';
      return { ok: false, error: { kind: 'tool-refused', tool, exitCode: 4, stderr, script: input } };
    };
  }

  /** Passes with the waits of the daemon between them. */
  async function passUntilDone(node: NodeUnderTest, freeAtMs: number): Promise<Retried> {
    let failures = 0;
    const loop = new PassLoop({
      proxier: { kindOf: (asked) => asked, pass: (kind) => node.passOnce(kind) },
      queue: { add: () => true, drain: () => [], done: () => undefined, isQuarantined: () => false },
      metrics: {
        ran: ({ errors }: PassReport) => {
          if (errors.length > 0) failures += 1;
        },
      },
      log: { info: () => {}, debug: () => {}, warn: () => {} },
      nowMs: () => node.nowMs,
      fullIntervalMs: Number.POSITIVE_INFINITY,
    });
    for (let left = 100; left > 0; left -= 1) {
      const before = failures;
      const outcome = await loop.run(new Set(['change']));
      if (failures === before) return { failures, lateMs: node.nowMs - freeAtMs };
      expect(outcome.kind).to.equal('retry');
      if (outcome.kind === 'retry') node.wait(outcome.afterMs);
    }
    throw new Error('it never succeeds');
  }

  for (const [heldMs, lateMs] of [
    [4000, 0],
    [8000, 0],
    [60_000, 16_000],
  ] as const) {
    it(`R98: rules that are locked for ${heldMs / 1000} s are written within ${lateMs / 1000} s after that`, async () => {
      const node = new NodeUnderTest();
      await node.apply(cart({}));
      hold(node, heldMs);
      const freeAtMs = node.nowMs + heldMs;
      node.record(cart({ type: 'NodePort', ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }] }));
      const { failures, lateMs: late } = await passUntilDone(node, freeAtMs);
      expect(failures > 0).to.equal(heldMs > 5000);
      expect(late).to.be.within(0, lateMs);
      expect(node.ipvs()).to.include('-A -t 192.168.0.10:30080 -s rr');
    });
  }

  it('R98: endpoints are replaced while others hold the lock', async () => {
    const node = new NodeUnderTest();
    await node.apply(cart({}, [HERE]));
    node.kernel.tables.IPv4.restore('*nat\n:KUBE-SERVICES - [0:0]\n-F KUBE-SERVICES\nCOMMIT\n');
    hold(node, 60_000);
    node.record(cart({}, [ELSEWHERE]));
    const { errors } = await node.passOnce('full');
    expect(errors).to.have.lengthOf(1);
    expect(node.ipvs()).to.include('-a -t 172.20.1.1:80 -r 10.180.1.5:8080 -m -w 1');
  });

  const OVERLAY = '700 600 0:50 / / rw,relatime - overlay overlay rw\n';
  const SHARED = '712 700 0:26 /xtables.lock /run/xtables.lock rw,nosuid - tmpfs tmpfs rw\n';
  for (const [where, mounts, warns] of [
    ['in a container with a lock of its own', OVERLAY, true],
    ["in a container with the node's lock", OVERLAY + SHARED, false],
    ['where mounts are not known', undefined, false],
  ] as const) {
    it(`R98: legacy iptables ${where} ${warns ? 'gives a warning' : 'gives none'} at the start`, async () => {
      const files = mounts === undefined ? {} : { '/proc/self/mountinfo': mounts };
      const { warnings } = await startNode({ files, iptables: 'iptables v1.8.9 (legacy)\n' });
      expect(warnings.filter((line) => line.includes('/run/xtables.lock'))).to.have.lengthOf(warns ? 1 : 0);
    });
  }

  it('R98: the documentation tells to mount the lock', () =>
    expect(page('reference/errors.md')).to.include('Another app is currently holding the xtables lock'));
});
