import { expect } from 'chai';
import type { Behaviour } from '../../src/desired/settings.ts';
import { FAMILIES } from '../../src/net/family.ts';
import type { SharedLab } from '../lab/shared-lab.ts';
import { ask, askedOf } from './ask.ts';
import { askKernel, canAsk, heardOf, programNode } from './in-kernel.ts';
import { describeNode, type NodeName } from './place.ts';
import { AFFINITY_AND_LABELS } from './rows/affinity-and-labels.ts';
import { CHANGES } from './rows/changes.ts';
import { ENDPOINTS } from './rows/endpoints.ts';
import { INPUT } from './rows/input.ts';
import { NETWORKING } from './rows/networking.ts';
import { POLICIES } from './rows/policies.ts';
import { RANGES_AND_NODE_PORTS } from './rows/ranges-and-node-ports.ts';
import { REACH } from './rows/reach.ts';
import { WITHOUT_LOCAL } from './rows/without-local.ts';
import { BEHAVIOURS, type Row, type Step } from './rows.ts';
import { desiredStates, settingsOf } from './states.ts';

const DIFFERENCES = [...WITHOUT_LOCAL, ...INPUT, ...RANGES_AND_NODE_PORTS];
const CONFORMANCE = [...POLICIES, ...REACH, ...NETWORKING, ...ENDPOINTS, ...CHANGES, ...AFFINITY_AND_LABELS];
const LAB_NODES: readonly NodeName[] = ['node-a', 'node-b'];

// There is a kernel to ask in the lab only.
if (process.env.IN_LAB) {
  const { useLab } = await import('../lab/shared-lab.ts');

  describe('test/trace/kernel', () => {
    const shared = useLab();
    let compared = 0;

    before('sockets of the nodes', async () => {
      for (const node of LAB_NODES) {
        for (const port of [22, 8080]) await shared().traffic.serve(node, node, port);
      }
    });

    for (const { row, behaviour } of rowsForLab()) {
      it(`does as traced: ${row.name} (${behaviour})`, async () => {
        for (const step of row.steps.slice(-1)) compared += await compareStep(shared(), row, step, behaviour);
      });
    }

    it('was asked hundreds of questions', () => expect(compared).to.be.greaterThan(300));
  });
}

/** Differences under both behaviours, everything else under the default. */
function rowsForLab(): readonly { readonly row: Row; readonly behaviour: Behaviour }[] {
  return [
    ...DIFFERENCES.flatMap((row) => BEHAVIOURS.map((behaviour) => ({ row, behaviour }))),
    ...CONFORMANCE.map((row) => ({ row, behaviour: 'documented' as const })),
  ].filter(({ row }) => isForLab(row));
}

/**
 * The lab's nodes have their usual interfaces; a client that sticks to a server does not meet the others; and nodes that take each other's
 * addresses disturb each other.
 */
function isForLab({ name, moreLinks, steps }: Row): boolean {
  return !moreLinks && steps.every(({ sticky }) => !sticky) && !name.includes('is of another node');
}

/** How many answers were the same; throws when any is not. */
async function compareStep({ lab, traffic }: SharedLab, row: Row, step: Step, behaviour: Behaviour): Promise<number> {
  const given = { settings: settingsOf({ ...row.settings, behaviour }) };
  const families = (row.families ?? FAMILIES).map((family) => {
    const stateOf = desiredStates(step.objects, family, given);
    const asked = askedOf(
      family,
      (node) => stateOf(node).kernel,
      (node) => describeNode(node, row),
    );
    return { family, stateOf, asked };
  });
  const program = (node: NodeName) => {
    const states = families.map(({ stateOf }) => stateOf(node));
    return programNode(lab, node, states, row.builtIn);
  };
  await Promise.all(LAB_NODES.map(program));
  const questions = families.flatMap(({ family, asked }) => {
    const texts = Object.keys(step.asks ?? {}).filter(canAsk);
    return texts.map((text) => ({ family, text, outcomes: ask(text, asked) }));
  });
  const [traced, heard]: [string[], string[]] = [[], []];
  for (const { family, text, outcomes } of questions) {
    const expected = heardOf(outcomes);
    if (expected === undefined) continue;
    // Round robin comes to each real server in turn; to wait in vain more than once proves nothing.
    // A refusal may be heard at the second attempt only, after a second: the first one comes while the socket is busy connecting.
    const times = expected === 'timeout' ? 1 : 2 * outcomes.split(' | ').length;
    const patienceMs = expected === 'timeout' ? 600 : 2500;
    traced.push(`${family} ${text}: ${expected}`);
    heard.push(`${family} ${text}: ${await askKernel(text, family, traffic, { times, patienceMs })}`);
  }
  const differing = heard.flatMap((answer, index) =>
    answer === traced[index] ? [] : [`${traced[index]} traced, ${answer} heard`],
  );
  expect(heard, differing.join('; ')).to.deep.equal(traced);
  return traced.length;
}
