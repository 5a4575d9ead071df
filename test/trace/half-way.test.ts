import { expect } from 'chai';
import type { Host } from '../../src/apply/host.ts';
import { Kernel } from '../../src/apply/kernel.ts';
import type { Behaviour } from '../../src/desired/settings.ts';
import { decodeObjects } from '../../src/kube/cluster-objects.ts';
import { Proxier } from '../../src/sync/proxier.ts';
import { memoryKernel } from '../kernel/memory-kernel.ts';
import { recordServices } from '../kernel/record-cluster.ts';
import { ask, askedOf } from './ask.ts';
import type { TracedState } from './path.ts';
import { linksOf } from './place.ts';
import { BEHAVIOURS } from './rows.ts';
import { NODES, nodePort, type Sketch, service, slice } from './sketch.ts';
import { readState, settingsOf } from './states.ts';

/** One is enough: the order of scripts is the same in both. */
const FAMILY = 'IPv4';

const cart = service({
  type: 'LoadBalancer',
  ports: [nodePort(30080)],
  externalIPs: ['external'],
  balancers: ['balancer'],
  loadBalancerSourceRanges: ['192.168.0.200/32', 'fd00:168::200/128'],
});
const local = (externalTrafficPolicy: 'Local' | 'Cluster') =>
  service({
    type: 'LoadBalancer',
    ports: [nodePort(30080)],
    externalIPs: ['external'],
    balancers: ['balancer'],
    externalTrafficPolicy,
  });
const other = service({ name: 'other', at: 'cluster2' });
const endpoints = slice(['a1', 'b1']);
const otherEndpoints = slice(['b1'], { service: 'other' });

const TO_SERVICES = ['cluster:80', 'cluster2:80', 'external:80', 'balancer:80', 'node-a:30080'].flatMap((frontend) =>
  ['client', 'a1', 'node-a'].map((sender) => `${sender} → ${frontend}`),
);
const TO_THE_HOST = ['cluster:22', 'cluster2:22', 'external:22', 'balancer:22'].map(
  (frontend) => `client → ${frontend}`,
);
const OUT_OF_RANGE = ['stranger', 'a2'].map((sender) => `${sender} → balancer:80`);

describe('test/trace/half-way', () => {
  const transitions: readonly (readonly [string, readonly (readonly Sketch[])[]])[] = [
    ['while a first Service comes', [[cart, endpoints]]],
    [
      'while a second Service comes',
      [
        [cart, endpoints],
        [cart, endpoints, other, otherEndpoints],
      ],
    ],
    ['while endpoints come and go', [[cart], [cart, endpoints], [cart, slice(['b1'])], [cart]]],
    [
      'while one Service takes the place of another',
      [
        [cart, endpoints],
        [other, otherEndpoints],
        [cart, endpoints],
      ],
    ],
    ['while Services go', [[cart, endpoints, other, otherEndpoints], [cart, endpoints], []]],
  ];
  for (const behaviour of BEHAVIOURS) {
    for (const [name, steps] of transitions) {
      it(`serves nobody in vain, opens neither the host nor closed ranges ${name} (${behaviour})`, async () => {
        const moments = await watch(steps, behaviour);
        expect(moments.writes).to.be.greaterThan(3);
        expect(moments.faults).to.deep.equal([]);
      });
    }
  }

  // In kube-proxy such clients are served in vain for good.
  const policies: readonly (readonly [string, readonly (readonly Sketch[])[]])[] = [
    [
      'loses its last local endpoint',
      [
        [local('Local'), endpoints],
        [local('Local'), slice(['b1'])],
      ],
    ],
    [
      'gets its first local endpoint',
      [
        [local('Local'), slice(['b1'])],
        [local('Local'), endpoints],
      ],
    ],
    [
      'takes the place of policy Cluster',
      [
        [local('Cluster'), endpoints],
        [local('Local'), endpoints],
      ],
    ],
    [
      'becomes policy Cluster',
      [
        [local('Local'), endpoints],
        [local('Cluster'), endpoints],
      ],
    ],
  ];
  for (const [name, steps] of policies) {
    it(`serves nobody in vain, opens not the host either while policy Local ${name} (documented)`, async () => {
      const { faults } = await watch(steps, 'documented');
      expect(faults.filter((fault) => !isOfRanges(fault))).to.deep.equal([]);
    });
  }

  it('sees addresses that are served before they are masqueraded', async () => {
    const backwards = await watch([[cart, endpoints]], 'documented', ({ input = '' }) => input.startsWith('*'));
    expect(backwards.faults).to.include('client → external:80: a1 sees client | b1 sees client in vain');
    expect(backwards.faults).to.include('client → external:22: external:22 sees client');
  });
});

/** These Services have no source ranges to keep. */
function isOfRanges(fault: string): boolean {
  return OUT_OF_RANGE.some((question) => fault.startsWith(question));
}

interface Moments {
  /** Scripts that were run. */
  readonly writes: number;
  /** What a packet would have met in between that it must not meet. */
  readonly faults: readonly string[];
}

type ToolCall = Parameters<Host['runTool']>[0];

/** Leads node-a from an empty kernel through the steps, and sends packets after every script; scripts that are `held` back never run. */
async function watch(
  steps: readonly (readonly Sketch[])[],
  behaviour: Behaviour,
  isHeld: (call: ToolCall) => boolean = () => false,
): Promise<Moments> {
  const kernel = memoryKernel(linksOf('node-a'));
  const faults: string[] = [];
  let writes = 0;
  const host: Host = {
    ...kernel,
    runTool: async (call) => {
      if (isHeld(call)) return { ok: true, value: { stdout: '', stderr: '' } };
      const output = await kernel.runTool(call);
      if (call.input === undefined) return output;
      writes += 1;
      faults.push(...faultsOf(await readState(kernel, FAMILY)));
      return output;
    },
  };
  const proxier = new Proxier({
    families: [FAMILY],
    nodeName: 'node-a',
    settings: settingsOf({ behaviour }),
    kernel: new Kernel(host, [FAMILY], () => 0),
    nowMs: () => 0,
  });
  let before = decodeObjects([]);
  for (const sketches of steps) {
    const after = decodeObjects([...NODES, ...sketches.map((sketch) => sketch(FAMILY))]);
    recordServices(proxier.record, before, after);
    before = after;
    const { errors } = await proxier.pass('normal', ['test']);
    expect(errors).to.deep.equal([]);
  }
  return { writes, faults };
}

function faultsOf(state: TracedState): readonly string[] {
  const asked = askedOf(FAMILY, () => state);
  const answers = (questions: readonly string[]) => questions.map((text) => [text, ask(text, asked)] as const);
  return [
    ...answers(TO_SERVICES).filter(([, answer]) => answer.includes('in vain')),
    ...[...answers(TO_THE_HOST), ...answers(OUT_OF_RANGE)].filter(([, answer]) => answer.includes('sees')),
  ].map((answer) => answer.join(': '));
}
